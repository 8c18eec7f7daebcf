/** Makes the bodies of turns: the handshake, the person, and what surrounds the question (CHAT-3, CHAT-4). */
import { CATALOG_VERSION, PROTOCOL_VERSION } from '../../../protocol/limits.ts';
import type { ChatBody, TurnContext } from '../../../protocol/runtime/chat.ts';
import { NOTICES_CAPABILITY } from '../../../protocol/runtime/stream-events.ts';
import { fittingContext } from '../../../protocol/runtime/turn-context.ts';
import { summarise } from '../../../protocol/schema/issues.ts';
import type { Payload, TurnAround } from '../conversation/turn.ts';
import { jsonOf, parsedJson } from '../json.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../surroundings.ts';
import { inTime, LATE } from '../transport/pause.ts';
import type { Manifest } from './manifest.ts';
import type { Person } from './person.ts';

export interface Abilities {
  /** Components that it draws, each `name` or `name@n`; `text` is meant with them. */
  readonly components: readonly string[];
  /** Kinds of buttons that it runs; none means all. */
  readonly actionKinds?: readonly string[];
  /** Beside `notices`, which the client itself has. */
  readonly capabilities?: readonly string[];
  readonly locale?: string;
}

/** A provider that takes longer keeps the person waiting for nothing. */
const CONTEXT_TIMEOUT_MS = 1_000;

/** A provider that is wrong is wrong with every question: each fault is told once, and no more than these. */
const FAULTS_TOLD_MAX = 20;

export interface ComposerParts {
  readonly sdk: string;
  readonly abilities: Abilities;
  readonly context: (() => TurnContext | undefined | Promise<TurnContext | undefined>) | undefined;
  readonly manifest: Manifest;
  readonly person: Person;
  readonly clock: Clock;
  readonly log: Log;
}

/** The zone that the device shows times in, where it says so: some runtimes do not. */
function deviceZone(): { readonly time_zone?: string } {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone ? { time_zone: timeZone } : {};
}

export class Composer {
  readonly #parts: ComposerParts;
  readonly #told = new Set<string>();

  constructor(parts: ComposerParts) {
    this.#parts = parts;
  }

  /** The body of a turn as it is now, sent unchanged however often it is tried. `around`: what is in the tab that asked. Never rejects. */
  async compose(turnId: string, payload: Payload, conversationId: string | undefined, around?: TurnAround): Promise<ChatBody> {
    const { client, context } = around ?? (await this.around());
    const { user } = this.#parts.person;
    return {
      turn_id: turnId,
      conversation_id: conversationId,
      ...payload,
      user,
      client,
      context,
    };
  }

  /** What can be done and drawn in this tab, and what surrounds a question here. Never rejects. */
  async around(): Promise<TurnAround> {
    const [hash, context] = await Promise.all([this.#parts.manifest.hash(), this.#context()]);
    return { client: this.#handshake(hash), context };
  }

  #handshake(hash: string | undefined): ChatBody['client'] {
    const { sdk, abilities } = this.#parts;
    const { components, actionKinds, capabilities = [], locale } = abilities;
    return {
      protocol: PROTOCOL_VERSION,
      sdk,
      catalog_version: CATALOG_VERSION,
      components: [...components],
      capabilities: [NOTICES_CAPABILITY, ...capabilities],
      action_kinds: actionKinds && [...actionKinds],
      locale,
      ...deviceZone(),
      manifest_hash: hash,
    };
  }

  /** Undefined where the app says nothing of it, or nothing that can be sent. Never rejects. */
  async #context(): Promise<TurnContext | undefined> {
    const { context, clock, log } = this.#parts;
    if (context === undefined) return undefined;
    try {
      const told = await inTime(clock, CONTEXT_TIMEOUT_MS, context);
      if (told !== LATE) return told === undefined ? undefined : this.#sendable(told);
      log.say('warn', 'context_timeout');
    } catch (error) {
      log.say('error', 'context_error', { error });
    }
    return undefined;
  }

  /** As it will be sent: what does not fit would be left out by the service, which tells no live build of it. */
  #sendable(told: TurnContext): TurnContext | undefined {
    const json = jsonOf(told);
    const { fitting, problems } = fittingContext(json === undefined ? undefined : parsedJson(json));
    for (const { path, message } of problems) {
      const fault = summarise([{ path: `context${path === '' ? '' : `.${path}`}`, message }]);
      if (this.#told.size >= FAULTS_TOLD_MAX || this.#told.has(fault)) continue;
      this.#told.add(fault);
      this.#parts.log.say('error', 'context_invalid', { path, reason: message }, `${fault}: it was left out of the message`);
    }
    return Object.keys(fitting).length === 0 ? undefined : fitting;
  }
}
