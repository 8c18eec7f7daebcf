/**
 * What a node tells every other node of the cell (CLUSTER-22), by kind. Nobody relies on receiving it: whoever listens looks the rows up
 * from time to time, too.
 */
import type { Channel } from '../storage/organisations/organisations.ts';

/** What every other node of the cell is told. */
export interface Announcements {
  /** Rows of a setup session changed. */
  sessionChanged: { readonly organisationId: string; readonly appId: string; readonly sessionId: string };
  /** Rows of a pairing changed. */
  pairingChanged: { readonly pairingId: string };
  /** A device opened a turn on the test channel. */
  turnOpened: {
    readonly organisationId: string;
    readonly appId: string;
    readonly deviceId: string;
    readonly turnId: string;
    readonly conversationId: string;
  };
  /** Requests that were counted in the buckets of another node since it last said so: key of the bucket, how many. */
  counted: { readonly counts: readonly (readonly [bucket: string, count: number])[] };
  /** A charge was committed, or credit was added (`costMicroUsd` 0). */
  charged: {
    readonly organisationId: string;
    readonly channel: Channel;
    readonly costMicroUsd: number;
    readonly atMs: number;
    readonly billed: boolean;
  };
}

/** The other nodes, as far as they announce and listen. */
export interface Announcer {
  /** This process has its data directory for itself: nobody announces anything, and nobody else writes to its rows. */
  readonly isAlone: boolean;
  /** To every other node. Never throws. */
  announce<K extends keyof Announcements>(kind: K, message: Announcements[K]): void;
  listen<K extends keyof Announcements>(kind: K, handler: (message: Announcements[K], from: string) => void): void;
  /** Calls `look` every so often: what an announcement told of that was lost is found in rows. Answers how to stop that. */
  lookEvery(everyMs: number, look: () => void): () => void;
}

/** Of a process that is alone. */
export const silentAnnouncer: Announcer = {
  isAlone: true,
  announce() {},
  listen() {},
  lookEvery: () => () => {},
};
