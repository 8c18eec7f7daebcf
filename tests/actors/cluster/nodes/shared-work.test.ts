/** Work that any node may come upon and one does: smoke runs, links, deadlines. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createDeadlines } from '../../../../actors/deadlines.ts';
import { KnowledgeIndexer } from '../../../../actors/knowledge/indexer.ts';
import { saveSource } from '../../../../actors/knowledge/sources.ts';
import { SmokeRuns } from '../../../../actors/smoke/run.ts';
import type { Command } from '../../../../actors/turns/command.ts';
import { TurnLog } from '../../../../actors/turns/log.ts';
import { mintId } from '../../../../protocol/ids.ts';
import { readSource } from '../../../../storage/knowledge/knowledge.ts';
import { eventually } from '../../../support/eventually.ts';
import { playedReader } from '../../knowledge/fixture.ts';
import { type Cell, type CellNode, openCell, START_MS } from '../cell.ts';

function answer(log: TurnLog, command: Command): void {
  command.listen?.action('find_order');
  log.say({ type: 'turn.end', status: 'completed', pending: [], billable: false });
  log.end();
}

/** Settles once a node asked for a lease and did not get it. */
function leaseRefused({ leases }: CellNode): Promise<void> {
  const take = leases.take.bind(leases);
  return new Promise((resolve) => {
    leases.take = async (...lease) => {
      const taken = await take(...lease);
      if (taken === null) resolve();
      return taken;
    };
  });
}

/** Smoke tests at a node whose turns the test answers. */
function smokeOf(cell: Cell, { storage, leases }: CellNode) {
  const asked: { log: TurnLog; command: Command }[] = [];
  const node = { asked, answers: false, smoke: undefined as unknown as SmokeRuns };
  node.smoke = new SmokeRuns({
    storage,
    leases,
    log: cell.log,
    nowMs: cell.nowMs,
    actors: {
      async openTurn(command) {
        const log = new TurnLog(0, null);
        asked.push({ log, command });
        if (node.answers) answer(log, command);
        return { source: log, fromSeq: 0 };
      },
      stopTurn: async () => true,
    },
  });
  return node;
}

test('CLUSTER-20: a second smoke call at another node gets the running one’s result, the next one runs anew there', async (t) => {
  const cell = await openCell(t);
  const { organisationId, appId } = cell;
  const [here, there] = [smokeOf(cell, cell.a), smokeOf(cell, cell.b)];
  const first = here.smoke.run(organisationId, appId);
  await eventually(
    () => here.asked.length > 0,
    undefined,
    () => 'nothing is asked',
  );
  const refused = leaseRefused(cell.b);
  const second = there.smoke.run(organisationId, appId);
  await refused;
  here.answers = true;
  for (const { log, command } of here.asked.slice()) answer(log, command);
  const runs = await Promise.all([first, second]);
  assert.deepEqual([runs[0].id === runs[1].id, there.asked.length], [true, 0]);
  there.answers = true;
  const third = await there.smoke.run(organisationId, appId);
  assert.notEqual(third.id, runs[0].id);
  assert.ok(there.asked.length > 0);
});

test('CLUSTER-20: when the node that runs a smoke test is gone the other one runs it', async (t) => {
  const cell = await openCell(t);
  const { organisationId, appId } = cell;
  const [here, there] = [smokeOf(cell, cell.a), smokeOf(cell, cell.b)];
  const cutOff = here.smoke.run(organisationId, appId);
  await eventually(
    () => here.asked.length > 0,
    undefined,
    () => 'nothing is asked',
  );
  there.answers = true;
  const run = there.smoke.run(organisationId, appId);
  cell.liveness.set(cell.a.id, 'gone');
  assert.equal((await run).passed, true);
  assert.ok(there.asked.length > 0);
  here.answers = true;
  for (const { log, command } of here.asked.slice()) answer(log, command);
  await cutOff;
});

function indexerOf(t: TestContext, cell: Cell, { storage, leases }: CellNode) {
  const links = playedReader();
  const indexer = new KnowledgeIndexer({ storage, leases, links, log: cell.log, nowMs: cell.nowMs });
  t.after(() => indexer.close());
  return { links, indexer };
}

async function addLink({ a, organisationId, appId }: Cell, key: string): Promise<string> {
  const source = { appId, externalKey: key, kind: 'url', title: null, uri: `https://shop.example/${key}`, content: null } as const;
  const input = { ...source, sourceId: mintId('kno', START_MS), origin: 'setup', reason: null, nowMs: START_MS } as const;
  return (await saveSource(a.storage, organisationId, input)).id;
}

test('CLUSTER-20: a link is read by one node, and who waits for it at another one is answered when it is indexed', async (t) => {
  const cell = await openCell(t);
  const { organisationId } = cell;
  const [here, there] = [indexerOf(t, cell, cell.a), indexerOf(t, cell, cell.b)];
  const id = await addLink(cell, 'faq');
  const asked = here.indexer.index(organisationId, id, 5_000);
  const reading = await here.links.next();
  const refused = leaseRefused(cell.b);
  await there.indexer.resume(organisationId);
  const waits = there.indexer.index(organisationId, id, 60_000);
  await refused;
  assert.deepEqual([here.links.asked.length, there.links.asked.length], [1, 0]);
  reading.resolve({ title: 'Questions', text: 'Parcels take two days.' });
  assert.deepEqual([(await asked).status, (await waits).status], ['indexed', 'indexed']);
  assert.equal(there.links.asked.length, 0);
});

test('CLUSTER-20: a link that a lost node was reading is read by another one, and what the lost one says then changes nothing', async (t) => {
  const cell = await openCell(t);
  const { organisationId } = cell;
  const [here, there] = [indexerOf(t, cell, cell.a), indexerOf(t, cell, cell.b)];
  const id = await addLink(cell, 'faq');
  const stuck = here.indexer.index(organisationId, id, 5_000);
  const reading = await here.links.next();
  cell.liveness.set(cell.a.id, 'gone');
  await there.indexer.resume(organisationId);
  const again = await there.links.next();
  reading.reject(new Error('the connection was lost while it slept'));
  await stuck;
  const state = () => readSource(cell.a.storage.organisation(organisationId), id)?.state;
  assert.equal(state(), 'indexing');
  again.resolve({ title: 'Questions', text: 'Parcels take two days.' });
  await eventually(
    () => state() === 'indexed',
    undefined,
    () => `${state()}`,
  );
  await stuck;
});

test('CLUSTER-19: a deadline that another node noted is settled here, soon after it is due, and at once after a loss', async (t) => {
  const { a, organisationId, log } = await openCell(t);
  let nowMs = START_MS;
  let dueAtMs: number | null = null;
  let settled = 0;
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const pass = async (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const deadlines = createDeadlines({ storage: a.storage, log, nowMs: () => nowMs, others: a.others });
  t.after(() => deadlines.close());
  const kind = {
    next: () => dueAtMs,
    async settle(id: string) {
      assert.equal(id, organisationId);
      dueAtMs = null;
      settled += 1;
    },
  };
  deadlines.watch([kind]);
  dueAtMs = nowMs + 1_200;
  await pass(1_000);
  await pass(600);
  assert.equal(settled, 0, 'the node that noted it comes first');
  await pass(100);
  assert.equal(settled, 1);
  dueAtMs = nowMs;
  await deadlines.lookAgain();
  await pass(1);
  assert.equal(settled, 2);
});
