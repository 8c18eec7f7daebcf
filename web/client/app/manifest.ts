/** Owns the manifest of this build: registers it where it is new or changed, and when the service has forgotten it (CLIENT-9). */
import type { PostedManifest } from '../../../protocol/runtime/manifest.ts';
import { isRecord, jsonText, parsedJson } from '../json.ts';
import { ClientError, failureOf, logged, ownFailure } from '../transport/failure.ts';
import { patiently } from '../transport/pause.ts';
import type { Ground } from '../transport/requests.ts';

/** Documents that the service took, newest first. Together they are as long as a place that keeps some megabytes for a whole site bears. */
const KEPT_MAX_CHARS = 64 * 1024;
/** So long it is not sent again unchanged. The service lets the one go first that nobody sent or used for longest. */
const KEPT_MS = 24 * 60 * 60_000;
/** With a test key: whoever sets an app up waits for the console to see that the build was started again. */
const KEPT_MS_TEST = 5 * 60_000;

interface Registered {
  readonly text: string;
  readonly hash: string;
  readonly atMs: number;
}

function isRegistered(value: unknown): value is Registered {
  return isRecord(value) && typeof value.text === 'string' && typeof value.hash === 'string' && typeof value.atMs === 'number';
}

interface ManifestOptions {
  readonly document: PostedManifest;
  readonly sdk: string;
  /** A turn waits so long for it. */
  readonly waitMs: number;
  /** Under which what the service took is kept. */
  readonly name: string;
  readonly isTest: boolean;
}

export class Manifest {
  readonly #ground: Ground;
  readonly #options: ManifestOptions;
  #document: PostedManifest;
  #hash: string | undefined;
  #sending: Promise<void> | undefined;
  /** The service does not take this document: it is not sent again before it changes. */
  #isRejected = false;
  #isStarted = false;

  constructor(ground: Ground, options: ManifestOptions) {
    this.#ground = ground;
    this.#options = options;
    this.#document = options.document;
  }

  /** Another document from now on. Changes that are made together are sent together. */
  change(document: PostedManifest): void {
    this.#document = document;
    this.#isRejected = false;
    this.#hash = undefined;
    if (!this.#isStarted) return;
    void Promise.resolve().then(() => {
      if (this.#document === document) this.#register(false);
    });
  }

  start(): void {
    this.#isStarted = true;
    this.#register(false);
  }

  get document(): PostedManifest {
    return this.#document;
  }

  /** Registers it, also where it was before: the service has forgotten it. */
  register(): void {
    this.#register(true);
  }

  #register(isForgotten: boolean): void {
    this.#hash = undefined;
    const document = this.#document;
    const sending: Promise<void> = this.#post(document, isForgotten).finally(() => {
      if (this.#sending === sending) this.#sending = undefined;
    });
    this.#sending = sending;
  }

  /** Its hash, once the service has it; undefined where it does not come in time, so that a turn goes without actions. */
  async hash(): Promise<string | undefined> {
    if (this.#hash === undefined && this.#sending === undefined && !this.#isRejected) this.#register(false);
    const { clock } = this.#ground.surroundings;
    const sending = this.#sending;
    if (sending !== undefined) {
      await new Promise<void>((resolve) => {
        const stopTimer = clock.after(this.#options.waitMs, resolve);
        void sending.finally(() => {
          stopTimer();
          resolve();
        });
      });
    }
    return this.#hash;
  }

  /** Never rejects. */
  async #post(document: PostedManifest, isForgotten: boolean): Promise<void> {
    try {
      const body = { manifest: document, sdk: this.#options.sdk };
      const text = jsonText(body);
      const { clock } = this.#ground.surroundings;
      const before = isForgotten ? undefined : (await this.#kept()).find((each) => each.text === text);
      if (before !== undefined && clock.nowMs() - before.atMs < (this.#options.isTest ? KEPT_MS_TEST : KEPT_MS)) {
        if (document === this.#document) this.#hash = before.hash;
        return;
      }
      const request = { method: 'POST', path: '/v1/apps/manifest', body } as const;
      const { manifest_hash: hash } = await patiently(this.#ground.surroundings, () =>
        this.#ground.requests.object<{ readonly manifest_hash?: unknown }>(request),
      );
      if (typeof hash !== 'string') throw new ClientError(ownFailure('unreadable', 'The service answered no hash.', true));
      if (document === this.#document) this.#hash = hash;
      await this.#keep({ text, hash, atMs: clock.nowMs() });
    } catch (error) {
      const failure = failureOf(error);
      const { status } = failure;
      const isRejected = status !== undefined && status < 500 && status !== 429 && status !== 408;
      if (isRejected && document === this.#document) this.#isRejected = true;
      this.#ground.log.say('error', isRejected ? 'manifest_rejected' : 'manifest_failed', logged(failure));
    }
  }

  /** Never rejects. */
  async #kept(): Promise<readonly Registered[]> {
    try {
      const kept = parsedJson((await this.#ground.surroundings.kept.read(this.#options.name)) ?? '');
      return Array.isArray(kept) ? kept.filter(isRegistered) : [];
    } catch (error) {
      this.#ground.log.say('warn', 'storage_error', { error });
      return [];
    }
  }

  /** Never rejects. A page may declare its actions one after the other: each document is known at its next visit. */
  async #keep(registered: Registered): Promise<void> {
    let chars = 0;
    const others = (await this.#kept()).filter(({ text }) => text !== registered.text);
    const kept = [registered, ...others].filter(({ text }) => {
      chars += text.length;
      return chars <= KEPT_MAX_CHARS;
    });
    try {
      await this.#ground.surroundings.kept.write(this.#options.name, jsonText(kept));
    } catch (error) {
      this.#ground.log.say('warn', 'storage_error', { error });
    }
  }
}
