/** Two processes on the same rows, each with its own actors: what one of them does to a conversation between the other's looks. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pino from 'pino';
import * as v from 'valibot';
import { PlatformSpend } from '../../../actors/billing/platform-spend.ts';
import type { Position } from '../../../actors/frame-source.ts';
import type { TurnCommand } from '../../../actors/turns/command.ts';
import { LocalTurns } from '../../../actors/turns/local-turns.ts';
import type { Model, ModelRequest, ModelSink } from '../../../assistant/models/model.ts';
import { priceTable } from '../../../assistant/prices.ts';
import { chatRequest } from '../../../protocol/runtime/chat.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import { hashManifest } from '../../../storage/apps/manifests.ts';
import { HANDSHAKE } from '../../support/client.ts';
import { eventually } from '../../support/process.ts';
import { type StoredApp, storeApp } from '../setup/app-in-storage.ts';
import { type Frame, readOn } from './desk.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const MANIFEST = { version: '1', actions: [{ name: 'look_up', description: 'Looks a delivery up.', risk: 'read' }] } as const;
const WITHIN_MS = 10_000;

/** Calls the action at first, keeps the second question waiting until it is let go, and answers all that follow. */
class ScriptedModel implements Model {
  readonly name = 'scripted';
  asked = 0;
  #held: ModelSink | null = null;

  stream(_: ModelRequest, sink: ModelSink) {
    this.asked += 1;
    const toolCalls = this.asked === 1 ? [{ id: 'call_1', name: 'look_up', arguments: '{}' }] : [];
    if (this.asked === 2) this.#held = sink;
    else {
      setImmediate(() => {
        if (toolCalls.length === 0) sink.text('It is on its way.');
        sink.finished({ reason: toolCalls.length > 0 ? 'tool_calls' : 'stop', toolCalls, usage: undefined });
      });
    }
    return { pause() {}, resume() {}, abort() {} };
  }

  letGo(): void {
    this.#held?.text('Too late.');
    this.#held?.finished({ reason: 'stop', toolCalls: [], usage: undefined });
  }

  async close(): Promise<void> {}
}

async function readToEnd({ source, fromSeq }: Position): Promise<Frame[]> {
  const frames: Frame[] = [];
  let next = fromSeq;
  for (const endMs = performance.now() + WITHIN_MS; performance.now() < endMs; await pause(1)) {
    const read = readOn(source, next, Number.MAX_SAFE_INTEGER);
    frames.push(...read.frames);
    next = read.nextSeq;
    if (read.ended) return frames;
  }
  throw new Error(`the stream has no end: ${JSON.stringify(frames)}`);
}

function nodeOf(t: TestContext, { storage }: StoredApp, self: string, model: Model): LocalTurns {
  const turns = new LocalTurns({
    storage,
    model,
    prices: priceTable({}),
    log: pino({ level: 'silent' }),
    runAction: () => Promise.reject(new Error('no action runs here')),
    // Each finds that the other does not answer.
    turnLossesMax: 2,
    ownership: { self, process: self, isLost: () => true, mayTake: () => true },
    billing: { platform: new PlatformSpend({ storage, log: pino({ level: 'silent' }) }, null, NOW), charged() {} },
    nowMs: () => NOW,
    noteDeadline() {},
  });
  t.after(() => turns.close());
  return turns;
}

async function commands(app: StoredApp): Promise<(body: Record<string, unknown>) => TurnCommand> {
  const { appId, organisationId, storage } = app;
  const hashed = hashManifest(v.parse(v.any(), MANIFEST));
  await storage.write(organisationId, 'registerManifest', { ...hashed, appId, sdk: 'web/0.1.0', nowMs: NOW });
  const record = readApp(storage.organisation(organisationId), appId, organisationId);
  assert.ok(record !== undefined);
  return (said) => {
    const turnId = randomUUID();
    const body = v.parse(chatRequest, { turn_id: turnId, client: { ...HANDSHAKE, manifest_hash: hashed.hash }, ...said });
    const who = {
      app: record,
      organisationId,
      channel: 'sandbox',
      deviceId: 'device',
      address: '127.0.0.1',
      person: null,
      userToken: '',
    } as const;
    return { ...who, turnId, fingerprint: JSON.stringify(said), requestId: 'r', purpose: 'person', body, minuteLeft: null };
  };
}

test('decisions §4: a copy of a continuation that finds its results taken by the same turn, opened elsewhere, is that turn', async (t) => {
  const app = await storeApp(t, NOW);
  const model = new ScriptedModel();
  const [here, there] = [nodeOf(t, app, 'here', model), nodeOf(t, app, 'there', model)];
  const command = await commands(app);
  const asked = await here.open(command({ message: { text: 'look it up' } }));
  const end = (await readToEnd(asked.position)).at(-1);
  assert.equal(end?.data.status, 'awaiting_tool_results');
  const [{ invocation_id }] = end.data.pending as [{ invocation_id: string }];
  const conversation = { conversation_id: asked.conversationId };
  // Keeps the conversation busy there, so that the copy waits after it was looked up.
  await there.open(command({ ...conversation, message: { text: 'And another thing.' } }));
  await eventually(
    () => model.asked === 2,
    WITHIN_MS,
    () => `the model was asked ${model.asked} times`,
  );
  const continuation = command({ ...conversation, tool_results: [{ invocation_id, status: 'ok', result: {} }] });
  const copy = there.open(continuation);
  const first = await readToEnd((await here.open(continuation)).position);
  model.letGo();
  const second = await readToEnd((await copy).position);
  assert.equal(first.at(-1)?.data.status, 'completed');
  assert.deepEqual(second, first);
  assert.equal(model.asked, 3);
});
