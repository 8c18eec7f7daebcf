/**
 * Work that one node of the cell does at a time: whoever does it holds a lease. Of several nodes `cluster/nodes/write-lease.ts` grants
 * them; to a process that is alone each is granted.
 */

export interface Lease {
  /** False when it ran out meanwhile: somebody else may be at work. */
  held(): boolean;
  /** Gives it back, in the background. Idempotent. */
  release(): void;
}

/** Runs work while nobody else writes to the app, in any process. @throws Refusal rate_limited when another one is stuck. */
export type TurnLease = <Value>(work: () => Promise<Value>) => Promise<Value>;

export interface Leases {
  /** Takes the lease `name` of the organisation; null while another holder has it. */
  take(organisationId: string, name: string): Promise<Lease | null>;
  /** For `inTurn`: runs work while this node alone writes to the app. */
  turn(organisationId: string, appId: string): TurnLease;
}

const GRANTED: Lease = { held: () => true, release() {} };

/** Of a process that is alone. */
export const grantedLeases: Leases = {
  take: async () => GRANTED,
  turn: () => (work) => work(),
};
