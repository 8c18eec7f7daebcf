/**
 * Work that one node of the cell does at a time (CLUSTER-20, CLUSTER-21): the writes of an app in their order, an app's smoke run, the
 * reading of a link. Whoever does it holds a lease, which is a row; Redis has no part in it.
 *
 * A lease keeps the usual from happening twice, it is no fence: a node that was paused for longer than its lease lasts goes on
 * when it wakes. So whatever is done under one is made of writes that are whole by themselves.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Refusal } from '../../../protocol/errors.ts';
import { readLease } from '../../../storage/organisations/leases.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Lease, Leases, WriteLease } from '../../leases.ts';
import type { Members } from './members.ts';

/** How long others wait for a node that is paused, or that nothing is known of. One that is gone is not waited for. */
const LEASE_MS = 30_000;
/** Three tries to keep a lease before it is lost. */
const RENEW_MS = 10_000;
/** A write of an app takes some milliseconds as a rule. */
const LOOK_MIN_MS = 10;
/** Random, so that nodes that wait do not stay in step. */
const LOOK_SPREAD_MS = 30;
/** Somebody waits for the answer of a write: longer than this, and the node that holds the app is stuck. */
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
  /** Each lease has a holder of its own, so that two of one node keep each other out, too. */
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
      // One of this node's own may be on its way back: writes of a file keep their order, so the row is asked below.
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
          // It runs out by itself.
          log.warn({ ...about, err: error }, 'releasing a lease failed: it expires by itself');
        });
      },
    };
  }

  /**
   * For `inWriteOrder`: runs work while this node alone writes to the app. Its wait counts from this call on, so of many that wait
   * for a stuck node none waits longer than the first. It rejects with rate_limited after 10 s.
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
