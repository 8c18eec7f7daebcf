/** What state a pairing's row is in at a time: the machine decides, and deadlines are evaluated whenever a row is read. */
import { type PairingState, pairing } from '../../machines/pairing.ts';
import { type Stepper, stepper } from '../../machines/step.ts';
import { OPEN_PAIRINGS_MAX, type PairingEnd, type PairingRow, type ReplacedPairing } from '../../storage/setup/pairings.ts';
import type { NewTrace } from '../../storage/traces/traces.ts';
import { takenTrace } from '../taken-trace.ts';

export type { PairingState } from '../../machines/pairing.ts';

export function pairingMachine({ claimedAtMs, watchedUntilMs, codeExpiresAtMs, endedAtMs }: PairingRow): Stepper<typeof pairing> {
  const state: PairingState = claimedAtMs === null ? 'open' : 'claimed';
  return stepper(pairing, {
    stored: { state, context: { dueAtMs: endedAtMs === null ? (watchedUntilMs ?? codeExpiresAtMs) : Number.NEGATIVE_INFINITY } },
  });
}

export function pairingState(row: PairingRow, nowMs: number): PairingState {
  return pairingMachine(row).send({ type: 'pairing.expire', nowMs }).state as PairingState;
}

export function isToBeEnded({ endedAtMs }: PairingRow, state: PairingState): boolean {
  return endedAtMs === null && (state === 'expired' || state === 'over');
}

export function pairingTrace({ claimedAtMs, codeExpiresAtMs }: PairingRow, machine: Stepper<typeof pairing>): NewTrace | null {
  return takenTrace(pairing, machine, claimedAtMs === null ? { dueAtMs: codeExpiresAtMs } : undefined);
}

export function pairingEnd(row: PairingRow, nowMs: number): PairingEnd {
  const machine = pairingMachine(row);
  machine.send({ type: 'pairing.expire', nowMs });
  return { id: row.id, claimedAtMs: row.claimedAtMs, nowMs, trace: pairingTrace(row, machine) };
}

/** Which of an app's `unclaimed` pairings, newest first, are replaced to make room for one more code: the oldest beyond the limit. */
export function replacedPairings(unclaimed: readonly PairingRow[], nowMs: number): ReplacedPairing[] {
  return unclaimed
    .map((row) => ({ row, machine: pairingMachine(row) }))
    .filter(({ machine }) => machine.send({ type: 'pairing.expire', nowMs }).state === 'open')
    .slice(OPEN_PAIRINGS_MAX - 1)
    .filter(({ machine }) => machine.send({ type: 'pairing.replaced' }).state === 'expired')
    .map(({ row, machine }) => ({ id: row.id, trace: pairingTrace(row, machine) }));
}
