/** What state a pairing's row is in at a time: the machine decides, and deadlines are evaluated whenever a row is read. */
import { type PairingState, pairing } from '../../machines/pairing.ts';
import { type Stepper, stepper } from '../../machines/step.ts';
import { OPEN_PAIRINGS_MAX, type PairingRow } from '../../storage/setup/pairings.ts';

export type { PairingState } from '../../machines/pairing.ts';

/** The machine as the row was left; its time may be up. */
export function pairingMachine({ claimedAtMs, watchedUntilMs, codeExpiresAtMs, endedAtMs }: PairingRow): Stepper<typeof pairing> {
  const state: PairingState = claimedAtMs === null ? 'open' : 'claimed';
  return stepper(pairing, {
    stored: { state, context: { dueAtMs: endedAtMs === null ? (watchedUntilMs ?? codeExpiresAtMs) : Number.NEGATIVE_INFINITY } },
  });
}

/** The state at `nowMs`. */
export function pairingState(row: PairingRow, nowMs: number): PairingState {
  return pairingMachine(row).send({ type: 'pairing.expire', nowMs }).state as PairingState;
}

/** Whether the row does not say yet that it is over, in this state. */
export function isToBeEnded({ endedAtMs }: PairingRow, state: PairingState): boolean {
  return endedAtMs === null && (state === 'expired' || state === 'over');
}

/** Which of an app's `unclaimed` pairings, newest first, are replaced to make room for one more code: the oldest beyond the limit. */
export function replacedPairings(unclaimed: readonly PairingRow[], nowMs: number): string[] {
  return unclaimed
    .map((row) => ({ id: row.id, machine: pairingMachine(row) }))
    .filter(({ machine }) => machine.send({ type: 'pairing.expire', nowMs }).state === 'open')
    .slice(OPEN_PAIRINGS_MAX - 1)
    .filter(({ machine }) => machine.send({ type: 'pairing.replaced' }).state === 'expired')
    .map(({ id }) => id);
}
