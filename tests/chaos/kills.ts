/** Random nodes are killed from outside and started again, for as long as a scenario wants it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ClusterNode } from '../support/cluster.ts';
import type { Run } from './figures.ts';

/** A kill that hits nothing proves nothing: the node is to be answering, if it comes to it within this time. */
const ANSWERING_WITHIN_MS = 2_000;
const LOOK_MS = 5;
/** Attempts that may still be open are among the last so many. */
const LATEST = 500;

export interface Kills {
  readonly kills: number;
  readonly everyMs: number;
}

async function answering({ history }: Run, { name }: ClusterNode): Promise<void> {
  const isAnswering = () =>
    history.attempts.slice(-LATEST).some(({ node, closing, seen }) => node === name && closing === 'open' && seen.length > 0);
  for (const endMs = performance.now() + ANSWERING_WITHIN_MS; !isAnswering() && performance.now() < endMs; ) await pause(LOOK_MS);
}

/** Kills random nodes, one at a time, and starts each again. Returns how often, and what settles when all of them are up again. */
export async function killNodes(run: Run, { kills, everyMs }: Kills): Promise<{ killed: number; up: Promise<unknown> }> {
  const { cluster, dice } = run;
  const starts: Promise<void>[] = [];
  let killed = 0;
  while (killed < kills) {
    await pause(everyMs);
    const up = cluster.nodes.filter(({ state }) => state === 'up');
    // With one node left the next one is awaited: a cluster that is down altogether is another question.
    if (up.length < Math.min(2, cluster.nodes.length)) continue;
    const node = dice.pick(up);
    await answering(run, node);
    if (node.state !== 'up') continue;
    await node.kill();
    killed += 1;
    starts.push(node.start());
  }
  return { killed, up: Promise.all(starts) };
}
