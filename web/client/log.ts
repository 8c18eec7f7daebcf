/** What the client says to whoever builds with it: records with codes that stay as they are. It never writes to a console by itself. */

/** Every code with its meaning. Codes are added; none is renamed. `component_unknown` and `deprecated` are for SDKs that draw. */
export const LOG_CODES = {
  action_error: 'the handler threw; the assistant is told so',
  action_timeout: 'the handler took longer than it may; the assistant is told so',
  action_unregistered: 'an action was called that has no handler here',
  action_result_invalid: 'what the handler returned is no JSON, or over 16 KB of it',
  app_not_live: 'the key is live and the app is not: the launcher stays hidden',
  app_refused: 'the service refuses this app, key or page: the launcher stays hidden',
  availability_changed: 'the assistant is available, or no more',
  component_unknown: 'the answer has a block that this build does not draw',
  config_failed: 'the configuration could not be loaded; it is asked for again',
  context_error: 'the context threw: the message went without it',
  context_invalid: 'a field of the context is not as the service takes it: the message went without it',
  context_timeout: 'the context took too long: the message went without it',
  decision_failed: 'the answer to a card could not be recorded',
  deprecated: 'something is used that a later version will not have',
  event_skipped: 'a frame of the stream is no event that is known',
  events_dropped: 'telemetry was thrown away',
  feedback_failed: 'a thumb or a rating could not be noted',
  history_failed: 'the conversation could not be read',
  identity_required: 'the app serves signed-in people only: the launcher stays hidden until somebody is',
  identify_failed: 'the person could not be bound to the device',
  key_invalid: 'the key is no publishable key: the assistant is off',
  manifest_failed: 'the manifest could not be sent: turns go without actions',
  manifest_rejected: 'the service does not take the manifest: turns go without actions',
  part_failed: 'a part of the SDK could not be loaded; it is asked for again',
  pairing_failed: 'the code is wrong, used or over, or the key is no test key',
  storage_error: 'a value could not be kept or read',
  subscriber_error: 'a subscriber or a listener threw: the others are told',
  stop_failed: 'a turn could not be stopped',
  stream_broken: 'the stream of a turn broke off; it is taken up again',
  stream_idle: 'the stream of a turn fell silent; it is taken up again',
  stream_lost: 'the stream of a turn could not be taken up again',
  turn_failed: 'a turn ended with an error',
  upload_failed: 'a file could not be uploaded',
  user_token_failed: 'the user token threw or took too long: the message went without a new one',
  warning: 'something of a request was not understood',
} as const;

export type LogCode = keyof typeof LOG_CODES;

export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly code: LogCode;
  /** A sentence for the developer. It holds no words of the person and no key. */
  readonly message: string;
  /** What finds it again: `turn_id`, `request_id`, `name` of an action, `status`, and the error where there is one. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export type LogSink = (record: LogRecord) => void;

/** Says it, and never fails: a sink that throws is the app's own trouble. */
export class Log {
  readonly #sink: LogSink;

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  say(level: LogRecord['level'], code: LogCode, details?: Readonly<Record<string, unknown>>, message: string = LOG_CODES[code]): void {
    try {
      const hint = details?.hint === undefined ? '' : `: ${details.hint}`;
      this.#sink({ level, code, message: message + hint, ...(details === undefined ? {} : { details }) });
    } catch {
      // Nothing to tell it to.
    }
  }

  /** What the app gave to be called: what it throws is its own trouble, and is told. */
  contain<Given extends unknown[]>(theirs: (...given: Given) => unknown): (...given: Given) => void {
    return (...given) => {
      try {
        theirs(...given);
      } catch (error) {
        this.say('error', 'subscriber_error', { error });
      }
    };
  }
}

type Told = (told: never) => unknown;
type Observer = Told | { readonly next?: Told | undefined };
type Subscribe = (observer: Observer) => unknown;

interface Observed {
  subscribe: Subscribe;
  readonly inspect?: Subscribe;
  readonly on?: (type: string, told: Told) => unknown;
  readonly select?: (...given: unknown[]) => Observed;
}

/** A store that is handed to the app: who subscribes from now on cannot stop what it tells of. */
export function contained<Store extends object>(store: Store, log: Log): Store {
  const { subscribe, inspect, on, select } = store as unknown as Observed;
  const safe = (observer: Observer): Told => log.contain(typeof observer === 'function' ? observer : (told) => observer.next?.(told));
  return Object.assign(store, {
    subscribe: (observer: Observer) => subscribe(safe(observer)),
    ...(inspect === undefined ? {} : { inspect: (observer: Observer) => inspect(safe(observer)) }),
    ...(on === undefined ? {} : { on: (type: string, told: Told) => on(type, safe(told)) }),
    ...(select === undefined ? {} : { select: (...given: unknown[]) => contained(select(...given), log) }),
  });
}
