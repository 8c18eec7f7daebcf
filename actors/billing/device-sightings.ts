/** Records which devices opened their app with a live key (LIMIT-33, LIMIT-34): one row a day for each, written in batches. */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Sighting } from '../../storage/people/devices.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DeviceRef } from '../caller.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Some 150 bytes each. A device that is evicted is written once more that day. */
const DEVICES_KEPT_MAX = 100_000;
const FLUSH_MS = 1_000;
/** Rows of one write; it shares its transaction with turns. */
const BATCH_MAX = 200;
/** For all organisations together. Devices beyond this in a second, as a flood of invented ones, are not recorded. */
const WAITING_MAX = 10_000;

export class DeviceSightings {
  readonly #storage: Storage;
  readonly #log: Logger;
  readonly #nowMs: () => number;
  /** The day on which a device was last noted, by app and device. */
  readonly #noted = new LRUCache<string, number>({ maxSize: DEVICES_KEPT_MAX, sizeCalculation: () => 1 });
  #waiting = new Map<string, Sighting[]>();
  #waitingCount = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(storage: Storage, log: Logger, nowMs: () => number) {
    this.#storage = storage;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  seen({ appId, organisationId, channel, deviceId }: DeviceRef): void {
    if (channel !== 'live' || deviceId === '') return;
    const day = Math.floor(this.#nowMs() / DAY_MS);
    const key = `${appId} ${deviceId}`;
    if (this.#noted.get(key) === day || this.#waitingCount >= WAITING_MAX) return;
    this.#noted.set(key, day);
    const waiting = this.#waiting.get(organisationId);
    if (waiting === undefined) this.#waiting.set(organisationId, [{ appId, deviceId }]);
    else waiting.push({ appId, deviceId });
    this.#waitingCount += 1;
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#waitingCount = 0;
    for (const [organisationId, sightings] of waiting) {
      for (let from = 0; from < sightings.length; from += BATCH_MAX) {
        await this.#write(organisationId, sightings.slice(from, from + BATCH_MAX));
      }
    }
  }

  async #write(organisationId: string, sightings: readonly Sighting[]): Promise<void> {
    try {
      await this.#storage.write(organisationId, 'seeDevices', { sightings, nowMs: this.#nowMs() });
    } catch (error) {
      // The next request of each will try again.
      for (const { appId, deviceId } of sightings) this.#noted.delete(`${appId} ${deviceId}`);
      this.#log.warn(
        { err: error, organisation_id: organisationId },
        'recording active devices failed: each is recorded with its next request',
      );
    }
  }
}
