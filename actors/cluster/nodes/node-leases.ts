/**
 * Leases for work that only one node of the cell does at a time (CLUSTER-20, CLUSTER-21): the writes of an app, an app's smoke run, the reading of
 * a link. A lease is a row; Redis has no part in it.
 *
 * A lease is not a fence: a node that was paused for longer than its lease continues when it wakes. So all work under a lease consists of
 * writes that are each complete.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Refusal } from '../../../protocol/errors.ts';
import { readLease } from '../../../storage/organisations/leases.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Lease, Leases, WriteLease } from '../../leases.ts';
import type { Members } from './members.ts';

/** How long other nodes wait for a paused or unknown node. They do not wait for a node that is gone. */
const LEASE_MS = 30_000;
/** Three tries to renew a lease before it expires. */
const RENEW_MS = 10_000;
/** A write of an app takes some milliseconds as a rule. */
const LOOK_MIN_MS = 10;
/** Random, so that waiting nodes do not stay in step. */
const LOOK_SPREAD_MS = 30;
/** After this long the node that holds the lease is taken to be stuck. A client waits for the answer. */
const WRITE_WAIT_MS = 10_000;

export interface LeaseServices {
  readonly storage: Storage;
  readonly members: Pick<Members, 'self' | 'probe'>;
  readonly log: Logger;
  nowMs(): number;
  /** Lets tests shorten what takes seconds. */
  readonly writeWaitMs?: number;
}

/** The leases of this node. */
export class NodeLeases implements Leases {
  readonly #services: LeaseServices;
  /** Each lease has its own holder, so that two of the same node also exclude each other. */
  #count = 0;

  constructor(services: LeaseServices) {
    this.#services = services;
  }

  /** Takes the lease `name` of the organisation; null while another holder has it. Asking costs one read as long as that is so. */
  async take(organisationId: string, name: string): Promise<Lease | null> {
    const { storage, members, nowMs } = this.#services;
    const row = readLease(storage.organisation(organisationId), name);
    let gone: string | null = null;
    if (row !== undefined && row.expiresAtMs > nowMs()) {
      const node = row.holder.slice(0, row.holder.lastIndexOf('/'));
      // This node's own lease may be about to be released: writes of a file keep their order, so the write below decides.
      if (node !== members.self && (await members.probe(node)) !== 'gone') return null;
      if (node !== members.self) gone = row.holder;
    }
    this.#count += 1;
    const holder = `${members.self}/${this.#count}`;
    const takenAtMs = nowMs();
    const input = { name, holder, gone, nowMs: takenAtMs, expiresAtMs: takenAtMs + LEASE_MS };
    return (await storage.write(organisationId, 'takeLease', input)) ? this.#lease(organisationId, name, holder) : null;
  }

  #lease(organisationId: string, name: string, holder: string): Lease {
    const { storage, log, nowMs } = this.#services;
    const about = { organisation_id: organisationId, lease: name };
    const renew = async () => {
      try {
        const kept = await storage.write(organisationId, 'renewLease', { name, holder, expiresAtMs: nowMs() + LEASE_MS });
        if (!kept)
          log.warn(about, 'a lease expired while its work was running: this node was stalled, and another node may do the same work');
      } catch (error) {
        log.warn({ ...about, err: error }, 'renewing a lease failed: trying again before it expires');
      }
    };
    const timer = setInterval(() => void renew(), RENEW_MS).unref();
    let released = false;
    return {
      held() {
        const row = readLease(storage.organisation(organisationId), name);
        return row?.holder === holder && row.expiresAtMs > nowMs();
      },
      release() {
        if (released) return;
        released = true;
        clearInterval(timer);
        storage.write(organisationId, 'giveBackLease', { name, holder }).catch((error: unknown) => {
          // It expires by itself.
          log.warn({ ...about, err: error }, 'releasing a lease failed: it expires by itself');
        });
      },
    };
  }

  /**
   * For `inWriteOrder`: runs work while only this node writes to the app. It rejects with rate_limited 10 s after this call, so work that is
   * queued behind other work for a stuck node waits no longer than that.
   */
  forWrites(organisationId: string, appId: string): WriteLease {
    const endMs = performance.now() + (this.#services.writeWaitMs ?? WRITE_WAIT_MS);
    return async (work) => {
      let lease = await this.take(organisationId, appId);
      while (lease === null) {
        if (performance.now() >= endMs) {
          throw new Refusal('rate_limited', 'Another process is still writing to this app. Send the request again.', { retryAfterS: 5 });
        }
        await pause(LOOK_MIN_MS + Math.random() * LOOK_SPREAD_MS);
        lease = await this.take(organisationId, appId);
      }
      try {
        return await work();
      } finally {
        lease.release();
      }
    };
  }
}
