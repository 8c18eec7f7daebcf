/** Nodes of a cell that talk over a real Redis, in the test's own process. */
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { type Bus, type BusOptions, createBus } from '../../../../actors/cluster/bus/bus.ts';
import { mintNodeId } from '../../../../actors/cluster/nodes/node-id.ts';
import { openVault } from '../../../../storage/secrets/vault.ts';

export const vault = openVault('', Buffer.alloc(32, 7).toString('base64'));
export const silent = pino({ level: 'silent' });

export interface TalkingNode extends Bus {
  /** Pairings that it heard of. */
  readonly heard: string[];
}

/** A node that keeps what it hears. */
export async function openNode(t: TestContext, redisUrl: string, options: Partial<BusOptions> = {}): Promise<TalkingNode> {
  const bus = await createBus({ redisUrl, cell: null, self: mintNodeId('test'), vault, log: silent, ...options });
  t.after(() => bus.close());
  const heard: string[] = [];
  bus.listen('pairingChanged', ({ pairingId }) => void heard.push(pairingId));
  return Object.assign(bus, { heard });
}

/** Milliseconds that the work took. */
export async function took(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return Math.round(performance.now() - startedMs);
}
