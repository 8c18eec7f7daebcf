/**
 * The order in which an app's configuration is written: one write, or one decision about a proposal, after the other.
 * What one changes the next one has to see, and some look at rows first and write after a while. Nodes of a cell take turns by
 * leases (nodes/write-lease.ts), one write at a time.
 */
import { Refusal } from '../../protocol/errors.ts';
import type { TurnLease } from '../leases.ts';
import { SerialByKey } from '../serial.ts';

/**
 * What may wait for its turn in one app: an agent's 120 requests of a minute all at once, and as many again of what
 * people do to it. As a rule a turn takes some milliseconds.
 */
const WAITING_MAX = 240;

const queues = new SerialByKey({
  max: WAITING_MAX,
  full: () => new Refusal('rate_limited', 'Too much is being written to this app at once. Send the request again.', { retryAfterS: 1 }),
});

/**
 * Runs `work` when what came before it in this app is done, in this process and, by `lease`, in all others.
 * @throws Refusal rate_limited when too much waits.
 */
export function inTurn<Value>(appId: string, work: () => Promise<Value>, lease: TurnLease): Promise<Value> {
  return queues.do(appId, () => lease(work));
}
