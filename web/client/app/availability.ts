/** Whether the assistant can be offered now, and how it looks (CLIENT-14): asked for at the start, and once a minute while it is away. */
import { createStore } from '@xstate/store';
import type { AppConfigReply } from '../../../protocol/runtime/config.ts';
import { jsonText, parsedJson } from '../json.ts';
import { contained } from '../log.ts';
import { ClientError, type Failure, failureOf, logged, ownFailure } from '../transport/failure.ts';
import type { Ground } from '../transport/requests.ts';

/** While it is away it is asked so often; the service takes twelve a minute of a device. */
const CHECK_EVERY_MS = 60_000;

export interface AppState {
  /** `off`: for good, as long as this page lives: the service refuses the key, the app or the page. */
  readonly availability: 'checking' | 'available' | 'unavailable' | 'off';
  readonly failure: Failure | undefined;
  /** The app serves signed-in people only, and nobody is: it is not available before somebody signs in. */
  readonly needsSignIn: boolean;
  /** The last that the service told, also of an earlier visit; undefined before the first. */
  readonly configuration: AppConfigReply | undefined;
}

interface KeptConfiguration {
  readonly etag: string;
  readonly reply: AppConfigReply;
}

function offered({ available, require_identity: demandsPerson }: AppConfigReply, isSigned: boolean) {
  const needsSignIn = demandsPerson === true && !isSigned;
  return { needsSignIn, availability: available && !needsSignIn ? 'available' : 'unavailable' } as const;
}

function createAppStore() {
  const context: AppState = { availability: 'checking', failure: undefined, needsSignIn: false, configuration: undefined };
  return createStore({
    context,
    on: {
      /** A configuration of an earlier visit: how it looks, and nothing about now. */
      remembered: (now, { configuration }: { configuration: AppConfigReply }): AppState =>
        now.configuration === undefined ? { ...now, configuration } : now,
      answered: (_now, { configuration, isSigned }: { configuration: AppConfigReply; isSigned: boolean }): AppState => ({
        ...offered(configuration, isSigned),
        failure: undefined,
        configuration,
      }),
      signed: (now, { isSigned }: { isSigned: boolean }): AppState => {
        if (now.configuration === undefined) return now;
        const { needsSignIn, availability } = offered(now.configuration, isSigned);
        const isKnown = now.failure === undefined && now.availability !== 'checking';
        return { ...now, needsSignIn, availability: isKnown ? availability : now.availability };
      },
      away: (now, { failure }: { failure: Failure }): AppState => ({ ...now, availability: 'unavailable', failure }),
      refused: (now, { failure }: { failure: Failure }): AppState => ({ ...now, availability: 'off', failure }),
    },
  });
}

export type AppStore = ReturnType<typeof createAppStore>;

/** What the service says for good. Anything else passes. */
function isFinal({ status }: Failure): boolean {
  return status === 401 || status === 403;
}

export class Availability {
  readonly store: AppStore;
  readonly #ground: Ground;
  readonly #name: string;
  #etag: string | undefined;
  #stopTimer: () => void = () => {};
  #isChecking = false;
  #isClosed = false;
  #isSigned = false;

  constructor(ground: Ground, name: string) {
    this.#ground = ground;
    this.#name = name;
    this.store = contained(createAppStore(), ground.log);
  }

  refuse(message: string): void {
    this.#ground.log.say('error', 'key_invalid', undefined, message);
    this.store.send({ type: 'refused', failure: ownFailure('unusable', message, false) });
  }

  signed(isSigned: boolean): void {
    this.#isSigned = isSigned;
    this.#changed(() => this.store.send({ type: 'signed', isSigned }));
  }

  /** Asks for the configuration; resolves when it is known whether the assistant is there. Never rejects. */
  async check(): Promise<void> {
    if (this.#isChecking || this.#isClosed || this.store.get().context.availability === 'off') return;
    this.#isChecking = true;
    this.#stopTimer();
    await this.#remember();
    try {
      this.#answered(await this.#ask());
    } catch (error) {
      this.#failed(failureOf(error));
    } finally {
      this.#isChecking = false;
    }
    const { availability, failure, needsSignIn } = this.store.get().context;
    // Who signs in is not asked about.
    if (availability !== 'unavailable' || (needsSignIn && failure === undefined) || this.#isClosed) return;
    this.#stopTimer = this.#ground.surroundings.clock.after(Math.max(CHECK_EVERY_MS, failure?.retryAfterMs ?? 0), () => void this.check());
  }

  /** The network is back: asks at once where the assistant is away. */
  wake(): void {
    if (this.store.get().context.availability === 'unavailable') void this.check();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
  }

  async #ask(): Promise<AppConfigReply> {
    const headers = this.#etag === undefined ? {} : { 'If-None-Match': this.#etag };
    const { status, headers: told, json, hint } = await this.#ground.requests.json({ method: 'GET', path: '/v1/apps/config', headers });
    const before = this.store.get().context.configuration;
    // Whoever is told that nothing changed had asked with what was kept.
    if (status === 304 && before !== undefined) return before;
    const reply = json as AppConfigReply | undefined;
    if (typeof reply !== 'object' || reply === null || typeof reply.available !== 'boolean') {
      throw new ClientError({ ...ownFailure('unreadable', 'The service answered something that is no configuration.', true), hint });
    }
    const etag = told.get('ETag');
    this.#etag = etag ?? undefined;
    if (etag !== null) await this.#keep({ etag, reply });
    return reply;
  }

  #answered(configuration: AppConfigReply): void {
    this.#changed(() => this.store.send({ type: 'answered', configuration, isSigned: this.#isSigned }));
  }

  #changed(change: () => void): void {
    const before = this.store.get().context;
    change();
    const { availability, needsSignIn } = this.store.get().context;
    if (availability !== before.availability) this.#ground.log.say('info', 'availability_changed', { availability });
    if (needsSignIn && !before.needsSignIn) this.#ground.log.say('info', 'identity_required');
  }

  #failed(failure: Failure): void {
    const details = logged(failure);
    if (isFinal(failure)) {
      this.#ground.log.say('warn', failure.code === 'app_not_live' ? 'app_not_live' : 'app_refused', details);
      this.store.send({ type: 'refused', failure });
      return;
    }
    // Once for each time that it goes away, not once a minute.
    if (this.store.get().context.availability !== 'unavailable') this.#ground.log.say('warn', 'config_failed', details);
    this.store.send({ type: 'away', failure });
  }

  async #remember(): Promise<void> {
    if (this.store.get().context.configuration !== undefined) return;
    try {
      const text = await this.#ground.surroundings.kept.read(this.#name);
      const kept = (text === null ? undefined : parsedJson(text)) as KeptConfiguration | undefined;
      if (typeof kept?.etag !== 'string' || typeof kept.reply?.available !== 'boolean') return;
      this.#etag = kept.etag;
      this.store.send({ type: 'remembered', configuration: kept.reply });
    } catch (error) {
      this.#ground.log.say('warn', 'storage_error', { error });
    }
  }

  async #keep(kept: KeptConfiguration): Promise<void> {
    try {
      await this.#ground.surroundings.kept.write(this.#name, jsonText(kept));
    } catch (error) {
      this.#ground.log.say('warn', 'storage_error', { error });
    }
  }
}
