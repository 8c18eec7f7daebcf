/** Random nodes are killed from outside and started again, for as long as a scenario wants it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Run } from './figures.ts';

export interface Kills {
  readonly kills: number;
  readonly everyMs: number;
}

/** Kills random nodes, one at a time, and starts each again. Answers how often. */
export async function killNodes({ cluster, dice }: Run, { kills, everyMs }: Kills): Promise<number> {
  const starts: Promise<void>[] = [];
  let killed = 0;
  while (killed < kills) {
    await pause(everyMs);
    const up = cluster.nodes.filter(({ state }) => state === 'up');
    // With one node left the next one is awaited: a cluster that is down altogether is another question.
    if (up.length < Math.min(2, cluster.nodes.length)) continue;
    const node = dice.pick(up);
    await node.kill();
    killed += 1;
    starts.push(node.start());
  }
  await Promise.all(starts);
  return killed;
}
