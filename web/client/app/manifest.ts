/** Owns the manifest of this build: registers it at the start, after every change, and when the service has forgotten it (CLIENT-9). */
import type { PostedManifest } from '../../../protocol/runtime/manifest.ts';
import type { Log } from '../log.ts';
import type { Surroundings } from '../surroundings.ts';
import { ClientError, failureOf, ownFailure } from '../transport/failure.ts';
import { patiently } from '../transport/patience.ts';
import type { Requests } from '../transport/requests.ts';

export class Manifest {
  readonly #requests: Requests;
  readonly #surroundings: Surroundings;
  readonly #log: Log;
  readonly #sdk: string;
  /** A turn waits so long for it. */
  readonly #waitMs: number;
  #document: PostedManifest;
  #hash: string | undefined;
  #sending: Promise<void> | undefined;
  /** The service does not take this document: it is not sent again before it changes. */
  #isRejected = false;
  #isStarted = false;

  constructor(document: PostedManifest, sdk: string, waitMs: number, requests: Requests, surroundings: Surroundings, log: Log) {
    this.#document = document;
    this.#sdk = sdk;
    this.#waitMs = waitMs;
    this.#requests = requests;
    this.#surroundings = surroundings;
    this.#log = log;
  }

  /** Another document from now on. Changes that are made together are sent together. */
  change(document: PostedManifest): void {
    this.#document = document;
    this.#isRejected = false;
    this.#hash = undefined;
    if (!this.#isStarted) return;
    void Promise.resolve().then(() => {
      if (this.#document === document) this.register();
    });
  }

  /** Registers it, whether it declares anything or not. */
  start(): void {
    this.#isStarted = true;
    this.register();
  }

  get document(): PostedManifest {
    return this.#document;
  }

  /** Registers it, also where it was before: posting it again is harmless. */
  register(): void {
    this.#hash = undefined;
    const document = this.#document;
    const sending: Promise<void> = this.#post(document).finally(() => {
      if (this.#sending === sending) this.#sending = undefined;
    });
    this.#sending = sending;
  }

  /** Its hash, once the service has it; undefined where it does not come in time, so that a turn goes without actions. */
  async hash(): Promise<string | undefined> {
    if (this.#hash === undefined && this.#sending === undefined && !this.#isRejected) this.register();
    const { clock } = this.#surroundings;
    const sending = this.#sending;
    if (sending !== undefined) {
      await new Promise<void>((resolve) => {
        const stopTimer = clock.after(this.#waitMs, resolve);
        void sending.finally(() => {
          stopTimer();
          resolve();
        });
      });
    }
    return this.#hash;
  }

  /** Never rejects. */
  async #post(document: PostedManifest): Promise<void> {
    try {
      const request = { method: 'POST', path: '/v1/apps/manifest', body: { manifest: document, sdk: this.#sdk } } as const;
      const { manifest_hash: hash } = await patiently(this.#surroundings, () =>
        this.#requests.object<{ readonly manifest_hash?: unknown }>(request),
      );
      if (typeof hash !== 'string') throw new ClientError(ownFailure('unreadable', 'The service answered no hash.', true));
      if (document === this.#document) this.#hash = hash;
    } catch (error) {
      const { code, status, message, details } = failureOf(error);
      const isRejected = status !== undefined && status < 500 && status !== 429 && status !== 408;
      if (isRejected && document === this.#document) this.#isRejected = true;
      this.#log.say('error', isRejected ? 'manifest_rejected' : 'manifest_failed', { code, status, message, details });
    }
  }
}
