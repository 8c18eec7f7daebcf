/** Rows that several nodes work on, and whoever watches them at another node. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { Pairings } from '../../../../actors/pairing/pairings.ts';
import type { PairingWatch } from '../../../../actors/pairing/watch.ts';
import type { Setup } from '../../../../actors/setup/setup.ts';
import { sessionSource } from '../../../../actors/setup/stream.ts';
import { readSession, readSetupEvents } from '../../../../storage/setup/setup-sessions.ts';
import { eventually } from '../../../support/eventually.ts';
import { setupOnStorage } from '../../setup/setup-on-storage.ts';
import { type Cell, type CellNode, openCell } from '../cell.ts';

function setupOf(t: TestContext, { log, nowMs }: Cell, { storage, others }: CellNode): Setup {
  return setupOnStorage(t, { storage, log, nowMs, others });
}

/** A session that both nodes know, and a line for it. */
async function sharedSession(t: TestContext) {
  const cell = await openCell(t);
  const here = setupOf(t, cell, cell.a);
  const there = setupOf(t, cell, cell.b);
  const { row } = await here.sessions.open(cell.a.app(), 'setup');
  const ref = { sessionId: row.id, organisationId: cell.organisationId, appId: cell.appId };
  const say = (setup: Setup, title: string) =>
    setup.sessions.change(ref, () => ({
      events: [{ step: 'connected', status: 'progress', title, detail: null, data: null, origin: 'server' }],
    }));
  return { cell, here, there, ref, say };
}

test('CLUSTER-22: what two nodes do to a setup session at the same time is all kept, once each, in one order', async (t) => {
  const { cell, here, there, ref, say } = await sharedSession(t);
  const titles = Array.from({ length: 30 }, (_, n) => `line ${n}`);
  const committed = await Promise.all(titles.map((title, n) => say(n % 2 === 0 ? here : there, title)));
  const events = readSetupEvents(cell.a.storage.organisation(cell.organisationId), ref.sessionId, 0, 1_000);
  const said = events.filter(({ title }) => title?.startsWith('line '));
  assert.deepEqual(said.map(({ title }) => title).toSorted(), titles.toSorted());
  assert.deepEqual(
    events.map(({ id }) => id),
    events.map((_, index) => index + 1),
    'ids rise without gaps',
  );
  assert.deepEqual(
    committed.map(({ eventIds }) => said.find(({ id }) => id === eventIds[0])?.title),
    titles,
    'each was told the id of its own line',
  );
  const row = readSession(cell.b.storage.organisation(cell.organisationId), ref.sessionId);
  assert.equal(row?.revision, 1 + titles.length);
});

test('CLUSTER-22: a reader is woken by what another node does, told or not, and by nothing else', async (t) => {
  const { cell, here, there, ref, say } = await sharedSession(t);
  const source = sessionSource(cell.b.storage, ref, there.sessions, { event: ({ title }) => ({ title }), session: () => ({}) });
  let woken = 0;
  t.after(
    source.subscribe(() => {
      woken += 1;
    }),
  );
  await say(here, 'Told.');
  await eventually(
    () => woken === 1,
    undefined,
    () => `woken ${woken} times`,
  );
  assert.match(source.read(1, 10_000).text, /Told\./);
  cell.deaf = true;
  await say(here, 'Not told.');
  await eventually(
    () => woken === 2,
    undefined,
    () => `woken ${woken} times`,
  );
  assert.match(source.read(2, 10_000).text, /Not told\./);
  cell.deaf = false;
  await say(there, 'Its own.');
  await nextTick();
  assert.equal(woken, 3);
});

/** What a page that looks has been told. */
function page(t: TestContext, watch: PairingWatch): { readonly states: string[]; readonly ended: boolean } {
  const source = watch.source((_, state) => ({ state }));
  const seen = { states: [] as string[], ended: false };
  let seq = 0;
  const read = () => {
    const { text, nextSeq, ended } = source.read(seq, 1_000);
    seq = nextSeq;
    seen.ended = ended;
    seen.states.push(...[...text.matchAll(/"state":"(\w+)"/g)].map(([, state]) => state ?? ''));
  };
  t.after(source.subscribe(read));
  read();
  return seen;
}

test('CLUSTER-22: a watch at one node hears of a claim and of a replacement at another one', async (t) => {
  const cell = await openCell(t);
  const pairingsOf = ({ storage, others }: CellNode) => {
    const actors = { watchDevice: () => () => {} };
    const pairings = new Pairings({ storage, actors, log: cell.log, nowMs: cell.nowMs, others });
    t.after(() => pairings.close());
    return pairings;
  };
  const [here, there] = [pairingsOf(cell.a), pairingsOf(cell.b)];
  const { organisationId, appId } = cell;
  const opened = await here.open({ id: appId, organisationId });
  const watch = there.watch({ organisationId, pairingId: opened.id });
  const first = page(t, watch);
  await here.claim({ organisationId, appId, channel: 'sandbox', deviceId: 'a'.repeat(32) }, opened.code);
  await eventually(
    () => first.states.includes('claimed'),
    undefined,
    () => `${first.states}`,
  );
  assert.deepEqual([first.states, first.ended], [['open', 'claimed'], false]);

  const replaced = await here.open({ id: appId, organisationId });
  const second = page(t, there.watch({ organisationId, pairingId: replaced.id }));
  // Ten codes of an app may wait for a build; one more takes the place of the oldest.
  for (let n = 0; n < 10; n++) {
    cell.clock.nowMs += 1;
    await here.open({ id: appId, organisationId });
  }
  await eventually(
    () => second.ended,
    undefined,
    () => 'the watch of the replaced pairing goes on',
  );
  assert.deepEqual(second.states, ['open', 'expired']);
});
