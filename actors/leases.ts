/** Work that one node of the cell does at a time, granted by `cluster/nodes/node-leases.ts`. A process alone has all leases. */

export interface Lease {
  /** False once it has expired: another node may do the work. */
  held(): boolean;
  /** Gives it back, in the background. Idempotent. */
  release(): void;
}

/** Runs work while no other process writes to the app. @throws Refusal rate_limited when another one is stuck. */
export type WriteLease = <Value>(work: () => Promise<Value>) => Promise<Value>;

export interface Leases {
  /** Takes the lease `name` of the organisation; null while another holder has it. */
  take(organisationId: string, name: string): Promise<Lease | null>;
  forWrites(organisationId: string, appId: string): WriteLease;
}

const GRANTED: Lease = { held: () => true, release() {} };

export const grantedLeases: Leases = {
  take: async () => GRANTED,
  forWrites: () => (work) => work(),
};
