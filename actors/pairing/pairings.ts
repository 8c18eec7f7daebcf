/** The door to pairings (docs/specification/pairing.md). A watch that was not told of a change looks at its row every 15 seconds. */

import { randomInt } from 'node:crypto';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { PAIRING_CODE_CHARS, PAIRING_CODE_MINUTES, PAIRING_WATCH_HOURS } from '../../protocol/limits.ts';
import { PAIRING_ALPHABET, pairingCodeOf } from '../../protocol/runtime/pairings.ts';
import { type PairingRow, readPairingByCode, readUnclaimed } from '../../storage/setup/pairings.ts';
import { hashSecret } from '../../storage/setup/setup-access.ts';
import type { DeviceRef } from '../caller.ts';
import { OVERTAKEN, retried } from '../retried.ts';
import { isToBeEnded, type PairingState, pairingMachine, pairingState, pairingTrace, replacedPairings } from './state.ts';
import { type PairingRef, PairingWatch, type WatchServices, writeEnd } from './watch.ts';

const CODE_MS = PAIRING_CODE_MINUTES * 60_000;
const WATCH_MS = PAIRING_WATCH_HOURS * 3_600_000;
/** Pairings that are watched in this process; each keeps some 256 KB. */
const WATCHES_MAX = 200;
/** Pages that watch one pairing; a person has one or two open. */
const PAGES_PER_PAIRING_MAX = 8;
/** When several are opened at once, one succeeds each time. */
const RETRIES = {
  max: 20,
  exhausted: () =>
    new Refusal('rate_limited', 'Too many pairings of this app are being opened at once. Send the request again.', { retryAfterS: 1 }),
};
/** Pages close when people leave; there is no telling when. */
const PAGES_RETRY_AFTER_S = 60;

function mintCode(): string {
  return Array.from({ length: PAIRING_CODE_CHARS }, () => PAIRING_ALPHABET[randomInt(PAIRING_ALPHABET.length)]).join('');
}

function noSuchPairing(): Refusal {
  return new Refusal('pairing_not_found', 'No pairing waits with this code. Codes work once and for 15 minutes: take a new one.');
}

export class Pairings {
  readonly #services: WatchServices;
  readonly #watches = new Map<string, PairingWatch>();

  constructor(services: WatchServices) {
    this.#services = services;
    services.others.listen('pairingChanged', ({ pairingId }) => this.#watches.get(pairingId)?.notice());
  }

  /** The row changed: its watchers, here and on the other nodes, read it again. */
  #changed(pairingId: string): void {
    this.#watches.get(pairingId)?.notice();
    this.#services.others.announce('pairingChanged', { pairingId });
  }

  /** The oldest waiting code makes room. @throws Refusal conflict, rate_limited when too many are opened at once. */
  async open({ id: appId, organisationId }: { id: string; organisationId: string }) {
    const { storage, nowMs } = this.#services;
    const db = storage.organisation(organisationId);
    const id = mintId('pai', nowMs());
    const code = mintCode();
    await storage.writeControl('registerPairing', { id, organisationId, nowMs: nowMs() });
    return retried(RETRIES, async () => {
      const openedAtMs = nowMs();
      const codeExpiresAtMs = openedAtMs + CODE_MS;
      const replaced = replacedPairings(readUnclaimed(db, appId), openedAtMs);
      const input = { id, appId, codeHash: hashSecret(code), codeExpiresAtMs, nowMs: openedAtMs, replaced };
      if (!(await storage.write(organisationId, 'openPairing', input))) return OVERTAKEN;
      for (const { id: pairingId } of replaced) this.#changed(pairingId);
      return { id, code, codeExpiresAtMs };
    });
  }

  /** @throws Refusal 404 pairing_not_found: wrong, used and expired codes are answered alike. */
  async claim(
    { organisationId, appId, deviceId }: DeviceRef,
    typed: string,
  ): Promise<{ readonly pairingId: string; readonly watchedUntilMs: number }> {
    const { storage } = this.#services;
    const code = pairingCodeOf(typed);
    const row = code === undefined ? undefined : readPairingByCode(storage.organisation(organisationId), appId, hashSecret(code));
    if (row === undefined || row.claimedAtMs !== null) throw noSuchPairing();
    const nowMs = this.#services.nowMs();
    const watchedUntilMs = nowMs + WATCH_MS;
    const machine = pairingMachine(row);
    const { state } = machine.send({ type: 'pairing.claim', nowMs, watchedUntilMs });
    const trace = pairingTrace(row, machine);
    const { id, codeExpiresAtMs } = row;
    if (state !== 'claimed') {
      if (row.endedAtMs === null) await storage.write(organisationId, 'endPairing', { id, claimedAtMs: null, nowMs, trace });
      throw noSuchPairing();
    }
    const claimed = await storage.write(organisationId, 'claimPairing', { id, codeExpiresAtMs, deviceId, watchedUntilMs, nowMs, trace });
    if (!claimed) throw noSuchPairing();
    this.#changed(id);
    return { pairingId: id, watchedUntilMs };
  }

  /** The state to report. An expired pairing is written first, so that it stays expired when the clock is set back. */
  async toldState(organisationId: string, row: PairingRow): Promise<PairingState> {
    const nowMs = this.#services.nowMs();
    const state = pairingState(row, nowMs);
    if (isToBeEnded(row, state)) await writeEnd(this.#services, organisationId, row, nowMs);
    return state;
  }

  /** @throws Refusal rate_limited when too many pages watch. */
  watch(ref: PairingRef): PairingWatch {
    const active = this.#watches.get(ref.pairingId);
    if ((active?.readers ?? 0) >= PAGES_PER_PAIRING_MAX || (active === undefined && this.#watches.size >= WATCHES_MAX)) {
      throw new Refusal('rate_limited', 'Too many pages watch test builds at the moment. Close one of them.', {
        retryAfterS: PAGES_RETRY_AFTER_S,
      });
    }
    if (active !== undefined) return active;
    const watch = new PairingWatch(ref, this.#services, () => this.#watches.delete(ref.pairingId));
    this.#watches.set(ref.pairingId, watch);
    return watch;
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close();
  }
}
