/** How a run asks, its deadline, and that one is under way at a time; the turns are played by the test. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { grantedLeases } from '../../../actors/leases.ts';
import { hearTurn, SmokeRuns } from '../../../actors/smoke/run.ts';
import type { Command } from '../../../actors/turns/command.ts';
import { TurnLog } from '../../../actors/turns/log.ts';
import type { Turns } from '../../../actors/turns/turns.ts';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { readLatestSmokeRun } from '../../../storage/setup/smoke-runs.ts';
import { type StoredApp, storeApp } from '../setup/app-in-storage.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const PATIENT_MS = 60_000;

async function shop(t: TestContext, suggestions: readonly string[] = []): Promise<StoredApp> {
  const app = await storeApp(t, NOW);
  await app.storage.write(app.organisationId, 'saveExperienceDraft', {
    appId: app.appId,
    patch: { suggestions: [...suggestions] },
    nowMs: NOW,
  });
  return app;
}

/** An actor system that leaves the answers to the test. */
class Stage {
  readonly commands: Command[] = [];
  readonly logs: TurnLog[] = [];
  readonly stopped: string[] = [];
  refusal: Error | null = null;
  /** Asked right after a turn was opened. */
  onTurn: (log: TurnLog, command: Command) => void = () => {};

  readonly actors: Pick<Turns, 'openTurn' | 'stopTurn'> = {
    openTurn: async (command) => {
      this.commands.push(command);
      if (this.refusal !== null) throw this.refusal;
      const log = new TurnLog(0, null);
      this.logs.push(log);
      log.say({ type: 'turn.start', conversation_id: 'cnv', message_id: 'msg', model: 'm', request_id: 'r' });
      this.onTurn(log, command);
      return { source: log, fromSeq: 0 };
    },
    stopTurn: async (_, turnId) => {
      this.stopped.push(turnId);
      return true;
    },
  };
}

function act(log: TurnLog, command: Command): void {
  command.listen?.action('find_order');
  log.say({ type: 'action.execute', invocation_id: 'inv', name: 'find_order', params: {}, timeout_ms: 1 });
  log.say({ type: 'turn.end', status: 'awaiting_tool_results', pending: [], billable: false });
  log.end();
}

function smokeOf({ storage }: StoredApp, stage: Stage, timeoutMs: number) {
  return new SmokeRuns({
    storage,
    actors: stage.actors,
    leases: grantedLeases,
    log: pino({ level: 'silent' }),
    nowMs: () => NOW,
    timeoutMs,
  });
}

test('SMOKE-1: each question opens a conversation of its own on the test channel, with every component, from no client’s device', async (t) => {
  const app = await shop(t, ['One?', 'Two?', 'Three?']);
  const stage = new Stage();
  stage.onTurn = act;
  const run = await smokeOf(app, stage, PATIENT_MS).run(app.organisationId, app.appId);
  assert.deepEqual([run.passed, run.answers.map(({ question }) => question)], [true, ['One?', 'Two?', 'Three?']]);
  for (const command of stage.commands) {
    assert.deepEqual([command.caller.channel, command.purpose, command.person], ['sandbox', 'smoke', null]);
    assert.equal(command.body.conversation_id, undefined);
    assert.deepEqual(new Set(command.body.client.components), new Set(CATALOG.keys()));
    assert.doesNotMatch(command.caller.deviceId, /^[0-9a-f]{32}$/);
  }
  assert.equal(new Set(stage.commands.map(({ turnId }) => turnId)).size, 3);
  assert.deepEqual(readLatestSmokeRun(app.storage.organisation(app.organisationId), app.appId), run);
});

test('SMOKE-3: one run at a time per app, a second call gets the running one’s result; the next one runs anew', async (t) => {
  const app = await shop(t);
  const stage = new Stage();
  const smoke = smokeOf(app, stage, PATIENT_MS);
  const opened = new Promise<void>((resolve) => {
    stage.onTurn = () => {
      if (stage.logs.length === 2) resolve();
    };
  });
  const first = smoke.run(app.organisationId, app.appId);
  await opened;
  const second = smoke.run(app.organisationId, app.appId);
  assert.equal(stage.commands.length, 2, 'two questions at a time');
  stage.onTurn = act;
  stage.logs.forEach((log, index) => {
    act(log, stage.commands[index] as Command);
  });
  assert.deepEqual((await first).id, (await second).id);
  assert.equal(stage.commands.length, 3);
  const third = await smoke.run(app.organisationId, app.appId);
  assert.notEqual(third.id, (await first).id);
  assert.equal(stage.commands.length, 6);
});

test('SMOKE-4: when its time is over the turns are stopped, what is not answered is an error on the service’s side', async (t) => {
  const app = await shop(t);
  const stage = new Stage();
  const run = await smokeOf(app, stage, 20).run(app.organisationId, app.appId);
  assert.deepEqual([run.passed, run.platformFailure, run.answers.length], [false, true, 3]);
  assert.ok(run.answers.every(({ error }) => error?.code === 'internal'));
  assert.deepEqual(stage.stopped.toSorted(), stage.commands.map(({ turnId }) => turnId).toSorted());
  assert.equal(stage.commands.length, 2, 'what was not asked in time is not asked at all');
});

test('SMOKE-16: a refused turn is an answer with its code; only the service’s own failures are its failure', async (t) => {
  const app = await shop(t);
  const stage = new Stage();
  const smoke = smokeOf(app, stage, PATIENT_MS);
  stage.refusal = new Refusal('quota_exceeded', 'This app is suspended.');
  const refused = await smoke.run(app.organisationId, app.appId);
  assert.deepEqual([refused.passed, refused.platformFailure], [false, false]);
  assert.deepEqual(refused.answers[0]?.error, { code: 'quota_exceeded', message: 'This app is suspended.' });
  stage.refusal = new Error('the disk is gone');
  const broken = await smoke.run(app.organisationId, app.appId);
  assert.deepEqual([broken.platformFailure, broken.answers[0]?.error?.code], [true, 'internal']);
  assert.doesNotMatch(JSON.stringify(broken), /disk/);
});

test('SMOKE-6: an app that is not there is refused, and nothing is asked', async (t) => {
  const app = await shop(t);
  const stage = new Stage();
  await assert.rejects(smokeOf(app, stage, PATIENT_MS).run(app.organisationId, 'app_none'), { code: 'not_found' });
  assert.equal(stage.commands.length, 0);
});

test('SMOKE-4: a turn is heard to its end however it is cut, without its deltas', async () => {
  const log = new TurnLog(0, null);
  const heard = hearTurn({ source: log, fromSeq: 0 }, new AbortController().signal);
  log.say({ type: 'block.start', index: 0, id: 'blk', block_type: 'text' });
  log.sayText(0, 'blk', 'event: not one\n\ndata: {}\n\n');
  await new Promise((resolve) => setImmediate(resolve));
  log.say({ type: 'block.ready', index: 0, block: { index: 0, id: 'blk', block_type: 'text', revision: 1, body: { md: 'a\n\ndata: b' } } });
  log.say({ type: 'turn.end', status: 'completed', billable: false });
  log.end();
  const { events, ended } = await heard;
  assert.deepEqual([events.map(({ type }) => type), ended], [['block.start', 'block.ready', 'turn.end'], true]);
  assert.equal(log.readers, 0);
});
