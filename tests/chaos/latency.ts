/** What it costs that a conversation was last used on another node, and that a turn is read on another node than its owner. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { conversationOf, intendTurn, newDevice, openReader, sendTurn } from '../support/chaos-load.ts';
import type { ClusterNode } from '../support/cluster.ts';
import type { Attempt } from '../support/history.ts';
import { assertClean, assertWithin, begin, figures, type Ground, quantile, spread } from './figures.ts';

/** An answered turn's actor is idle a moment after its client knows. */
const IDLE_AFTER_MS = 10;
/** What a reader gets at once when it attaches is not live. */
const CAUGHT_UP_AFTER_MS = 100;

function startsAfterMs({ seen, sentAtMs }: Attempt): number {
  const start = seen.find(({ event }) => event.type === 'turn.start');
  assert.ok(start !== undefined);
  return start.atMs - sentAtMs;
}

/** A request for an actor that is idle elsewhere takes it over. */
export async function handOver(ground: Ground, conversations: number): Promise<void> {
  const run = await begin(ground);
  run.model.pace({ words: 1, delayMs: 0 });
  const [here, there] = run.cluster.up() as [ClusterNode, ClusterNode];
  // The first is where it begins.
  const path = [here, here, there, there, here];
  const sameMs: number[] = [];
  const otherMs: number[] = [];
  for (let n = 0; n < conversations; n++) {
    const deviceId = newDevice();
    let conversationId: string | null = null;
    for (const [at, node] of path.entries()) {
      const answered = await sendTurn(run, intendTurn(run, { deviceId, conversationId, ordinal: at + 1 }), { first: node });
      assert.ok(answered !== undefined);
      assertWithin(run, answered.number, 1, 'tries until an idle conversation is taken over');
      conversationId = conversationOf(answered);
      const owner = run.cluster.ownerOf(run.app.organisationId, conversationId ?? '');
      assert.equal(owner?.name, answered.node, 'the node that is asked takes it over');
      if (at > 0) (node === path[at - 1] ? sameMs : otherMs).push(startsAfterMs(answered));
      await pause(IDLE_AFTER_MS);
    }
  }
  await assertClean(run);
  const added = (q: number) => (quantile(otherMs, q) - quantile(sameMs, q)).toFixed(2);
  const line = `turn.start after a hand-over: ${spread(otherMs)}; on the same node: ${spread(sameMs)}; added p50 ${added(0.5)} ms, p99 ${added(0.99)} ms`;
  figures(run, 'i', `${conversations} conversations, ${otherMs.length} hand-overs, ${line}`);
}

/** Milliseconds by which each delta came later to the one who reads elsewhere. */
function addedMs(atOwner: Attempt, elsewhere: Attempt): number[] {
  const ownerAtMs = new Map(atOwner.seen.map(({ event, atMs }) => [event.seq, atMs]));
  const liveFromMs = (elsewhere.seen[0]?.atMs ?? 0) + CAUGHT_UP_AFTER_MS;
  return elsewhere.seen.flatMap(({ event, atMs }) => {
    const seenAtMs = ownerAtMs.get(event.seq);
    return event.type === 'block.delta' && atMs >= liveFromMs && seenAtMs !== undefined ? [atMs - seenAtMs] : [];
  });
}

/** A turn is read on any node, live. */
export async function forwardedDeltas(ground: Ground, turns: number, words: number): Promise<void> {
  const run = await begin(ground);
  run.model.pace({ words, delayMs: 10 });
  const added: number[] = [];
  for (let n = 0; n < turns; n++) {
    const owner = run.dice.pick(run.cluster.up());
    const elsewhere = run.dice.pick(run.cluster.up().filter((node) => node !== owner));
    const turn = intendTurn(run, { deviceId: newDevice(), conversationId: null, ordinal: 1 });
    let started = () => {};
    const begun = new Promise<void>((resolve) => {
      started = resolve;
    });
    const atOwner = openReader(run, { node: owner, turn, onEvent: () => started() });
    await Promise.race([begun, atOwner.closed]);
    const reader = openReader(run, { node: elsewhere, turn, via: 'attach' });
    added.push(...addedMs(await atOwner.closed, await reader.closed));
  }
  await assertClean(run);
  assert.ok(added.length > 0, 'deltas came live to the other node');
  figures(run, 'j', `${turns} turns, ${added.length} forwarded deltas, added ${spread(added)}`);
}
