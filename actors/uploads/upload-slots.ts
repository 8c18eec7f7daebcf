/** The slots of uploads. One too slow is ended, and where all of an address, an app or the process are taken, the slowest. */
import { Refusal } from '../../protocol/errors.ts';
import { UPLOADS_RETRY_AFTER_S } from '../../protocol/limits.ts';
import type { DeviceRef } from '../caller.ts';

/** Each is held in memory until it is stored: 640 MB at the worst. */
export const UPLOADS_AT_ONCE_MAX = 16;
/** Slow or hostile clients of one app leave half of the slots to other apps. */
export const UPLOADS_AT_ONCE_PER_APP_MAX = 8;
/** One address leaves half of its app's slots to others. */
export const UPLOADS_AT_ONCE_PER_ADDRESS_MAX = 4;
/** What one message may attach. */
export const UPLOADS_AT_ONCE_PER_DEVICE_MAX = 4;

/** 20 MB at 1 Mbit/s; no upload keeps a slot for longer. */
const ARRIVES_WITHIN_MS = 180_000;
/** The pace is measured over this time: phones pause when they change between networks. */
const PACE_WINDOW_MS = 10_000;
/** A poor mobile network sends twice as fast. */
const SLOWEST_BYTES_PER_S = 8 * 1024;
/** What is at least this old and slower than this is ended when another upload needs its slot: 1 Mbit/s, and two seconds to begin. */
const PASSED_OVER_AFTER_MS = 2_000;
const PASSED_OVER_BELOW_BYTES_PER_S = 128 * 1024;
/** How often the pace is checked while there are uploads. */
const LOOK_EVERY_MS = 1_000;

export interface Uploader extends DeviceRef {
  /** How limits name the client's address (HTTP-25); '' where they do not count it. */
  readonly address: string;
}

type Counted = Pick<Uploader, 'appId' | 'deviceId' | 'address'>;

export interface UploadSlot {
  leave(): void;
  /** The bytes of the body that have come so far; `isWhole`: all of them, so its pace no longer counts. */
  arrived(bytes: number, isWhole: boolean): void;
  /** Calls `end` once if the upload has to stop, with the reason. It must leave then. */
  whenEnded(end: (refusal: Refusal) => void): void;
}

interface Inside {
  readonly uploader: Counted;
  readonly enteredAtMs: number;
  bytes: number;
  isWhole: boolean;
  windowAtMs: number;
  windowBytes: number;
  end(refusal: Refusal): void;
}

function tooSlow(what: string): Refusal {
  return new Refusal('upload_too_slow', `${what} Send it again over a better connection, or a smaller one.`, {
    retryAfterS: UPLOADS_RETRY_AFTER_S,
  });
}

function noSlot(): Refusal {
  return new Refusal('uploads_unavailable', 'Too many files are being uploaded at once. Send the file again in some seconds.', {
    retryAfterS: UPLOADS_RETRY_AFTER_S,
  });
}

export class UploadSlots {
  readonly #nowMs: () => number;
  readonly #inside = new Set<Inside>();
  #timer: NodeJS.Timeout | undefined;

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** @throws Refusal 503 uploads_unavailable when this device has all of its slots, or no slower upload can be ended. */
  enter(uploader: Counted): UploadSlot {
    const { appId, address, deviceId } = uploader;
    const ofApp = this.#those((other) => other.appId === appId);
    const ofAddress = ofApp.filter((each) => each.uploader.address === address);
    const ofDevice = ofApp.filter((each) => each.uploader.deviceId === deviceId);
    if (ofDevice.length >= UPLOADS_AT_ONCE_PER_DEVICE_MAX) throw noSlot();
    // The upload that is ended is of the same app, so the app has room then, too.
    if (address !== '' && ofAddress.length >= UPLOADS_AT_ONCE_PER_ADDRESS_MAX) this.#passOver(ofAddress);
    else if (ofApp.length >= UPLOADS_AT_ONCE_PER_APP_MAX) this.#passOver(ofApp);
    else if (this.#inside.size >= UPLOADS_AT_ONCE_MAX) this.#passOver([...this.#inside]);
    return this.#take(uploader);
  }

  #those(wanted: (uploader: Counted) => boolean): Inside[] {
    return [...this.#inside].filter(({ uploader }) => wanted(uploader));
  }

  #take(uploader: Counted): UploadSlot {
    const nowMs = this.#nowMs();
    const inside: Inside = { uploader, enteredAtMs: nowMs, bytes: 0, isWhole: false, windowAtMs: nowMs, windowBytes: 0, end: () => {} };
    this.#inside.add(inside);
    this.#timer ??= setInterval(() => this.look(), LOOK_EVERY_MS).unref();
    return {
      leave: () => this.#leave(inside),
      arrived: (bytes, isWhole) => {
        inside.bytes = bytes;
        inside.isWhole = isWhole;
      },
      whenEnded: (end) => {
        inside.end = end;
      },
    };
  }

  #leave(inside: Inside): void {
    this.#inside.delete(inside);
    if (this.#inside.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #end(inside: Inside, refusal: Refusal): void {
    this.#leave(inside);
    inside.end(refusal);
  }

  #pace({ bytes, enteredAtMs }: Inside): number {
    return (bytes * 1_000) / Math.max(1, this.#nowMs() - enteredAtMs);
  }

  #passOver(uploads: readonly Inside[]): void {
    const nowMs = this.#nowMs();
    const slow = uploads
      .filter((each) => !each.isWhole && nowMs - each.enteredAtMs >= PASSED_OVER_AFTER_MS)
      .filter((each) => this.#pace(each) < PASSED_OVER_BELOW_BYTES_PER_S)
      .sort((a, b) => this.#pace(a) - this.#pace(b));
    const slowest = slow[0];
    if (slowest === undefined) throw noSlot();
    this.#end(slowest, tooSlow('Others waited for a place, and this file came slowest.'));
  }

  /** Ends uploads that are too slow. A timer calls it while there are uploads. */
  look(): void {
    const nowMs = this.#nowMs();
    for (const each of [...this.#inside]) {
      if (each.isWhole) continue;
      if (nowMs - each.enteredAtMs >= ARRIVES_WITHIN_MS) {
        this.#end(each, tooSlow(`The file took longer than ${ARRIVES_WITHIN_MS / 1_000} s to arrive.`));
      } else if (nowMs - each.windowAtMs >= PACE_WINDOW_MS) {
        const perSecond = ((each.bytes - each.windowBytes) * 1_000) / (nowMs - each.windowAtMs);
        each.windowAtMs = nowMs;
        each.windowBytes = each.bytes;
        if (perSecond < SLOWEST_BYTES_PER_S)
          this.#end(each, tooSlow(`The file came with less than ${SLOWEST_BYTES_PER_S} bytes in a second.`));
      }
    }
  }
}
