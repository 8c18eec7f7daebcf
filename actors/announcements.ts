/** Announcements to the other nodes of the cell, by kind (CLUSTER-22). One may be lost: listeners also read the rows from time to time. */
import type { Channel } from '../storage/organisations/organisations.ts';

export interface Announcements {
  sessionChanged: { readonly organisationId: string; readonly appId: string; readonly sessionId: string };
  pairingChanged: { readonly pairingId: string };
  /** A device opened a turn on the test channel. */
  turnOpened: {
    readonly organisationId: string;
    readonly appId: string;
    readonly deviceId: string;
    readonly turnId: string;
    readonly conversationId: string;
  };
  /** Requests that a node has counted in its buckets since its last announcement: key of the bucket, how many. */
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

export interface Announcer {
  /** This process has its data directory for itself: there are no announcements, and no other process writes to its rows. */
  readonly isAlone: boolean;
  /** To every other node. Never throws. */
  announce<K extends keyof Announcements>(kind: K, message: Announcements[K]): void;
  listen<K extends keyof Announcements>(kind: K, handler: (message: Announcements[K], from: string) => void): void;
  /** Calls `look` every `everyMs`, to find in rows what a lost announcement told. Returns a function that stops it. */
  lookEvery(everyMs: number, look: () => void): () => void;
}

export const silentAnnouncer: Announcer = {
  isAlone: true,
  announce() {},
  listen() {},
  lookEvery: () => () => {},
};
