/** Owns requests to the service that are answered with JSON: headers, the time-out, and what a refusal says. Streams are beside it. */
import { EARLIER_KEY_PREFIX, KEY_PREFIX, USER_TOKEN_HEADER, WARNING_HEADER } from '../../../protocol/headers.ts';
import { jsonText, parsedJson } from '../json.ts';
import type { Log } from '../log.ts';
import type { Fetch, FetchAnswer, FileAnswer, FileContent, SendFile, Surroundings } from '../surroundings.ts';
import { ClientError, ownFailure, refusalFrom, silenceHint, strangerHint, UNREACHABLE } from './failure.ts';

/** Who sends, as it is at the moment of a request. */
export interface Sender {
  readonly device: string;
  /** `X-Service-User`; only a signature proves anything there. */
  readonly header: string | undefined;
  readonly token: string | undefined;
  /** Asks for another token where the one of before holds no more, or not for long. Before a turn is sent. Never rejects. */
  renewToken(): Promise<void>;
  /** An action was answered that the token holds no more. */
  tokenRefused(): void;
}

export interface RequestsOptions {
  readonly address: string;
  readonly key: string;
  readonly sdk: string;
  readonly platform: string;
  readonly requestTimeoutMs: number;
  readonly sender: Sender;
}

export interface JsonRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** From `/v1` on. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface JsonAnswer {
  readonly status: number;
  readonly headers: FetchAnswer['headers'];
  readonly json: unknown;
  /** For the log, where this is nothing that the service says. */
  readonly hint: string;
}

/** Whether a key may be sent at all (KEY-1): one that was copied from a guide, with its dots, is none. */
export function isPublishableKey(key: string): boolean {
  return /^[\w-]+$/.test(key) && (key.startsWith(KEY_PREFIX) || key.startsWith(EARLIER_KEY_PREFIX));
}

/** Whether it is a publishable key for builds that are being made (KEY-2). */
export function isTestKey(key: string): boolean {
  return isPublishableKey(key) && key.includes('pk_test_');
}

/** What most of the client stands on. */
export interface Ground {
  readonly requests: Requests;
  readonly surroundings: Surroundings;
  readonly log: Log;
}

export class Requests {
  readonly #options: RequestsOptions;
  readonly #surroundings: Surroundings;
  readonly #log: Log;
  #warned = '';

  constructor(options: RequestsOptions, surroundings: Surroundings, log: Log) {
    this.#options = options;
    this.#surroundings = surroundings;
    this.#log = log;
  }

  /** As the surroundings have it; what the service warns of is passed on. */
  get fetch(): Fetch {
    return async (address, request) => {
      const { fetch } = this.#surroundings;
      const answer = await fetch(address, request);
      this.#passWarning(answer, address.slice(this.#options.address.length));
      return answer;
    };
  }

  get sender(): Sender {
    return this.#options.sender;
  }

  address(path: string): string {
    return `${this.#options.address}${path}`;
  }

  /** A turn names its person in its body, where alone it counts, and may bring their own token for actions that the service runs. */
  headers({ hasBody, isTurn }: { readonly hasBody: boolean; readonly isTurn: boolean }): Record<string, string> {
    const { key, sdk, platform, sender } = this.#options;
    const { device, header: user, token } = sender;
    return {
      'X-Service-Key': key,
      'X-Service-Device': device,
      'X-Service-SDK': sdk,
      'X-Service-Platform': platform,
      ...(hasBody ? { 'Content-Type': 'application/json' } : {}),
      ...(user === undefined || (isTurn && hasBody) ? {} : { 'X-Service-User': user }),
      ...(token === undefined || !isTurn ? {} : { [USER_TOKEN_HEADER]: token }),
    };
  }

  /** @throws ClientError a refusal of the service, `timeout` after `requestTimeoutMs`, `unreachable` when there was no answer */
  async json(request: JsonRequest): Promise<JsonAnswer> {
    const hasBody = request.body !== undefined;
    const cancel = new AbortController();
    const address = this.address(request.path);
    const asked = `${request.method} ${address}`;
    const { answer, text } = await this.#inTime(asked, cancel, async () => {
      const answer = await this.fetch(address, {
        method: request.method,
        headers: { ...this.headers({ hasBody, isTurn: false }), ...request.headers },
        signal: cancel.signal,
        ...(hasBody ? { body: jsonText(request.body as object) } : {}),
      });
      return { answer, text: await answer.text() };
    });
    if (answer.status >= 400) throw new ClientError(refusalFrom(asked, answer, text, this.#surroundings.clock.nowMs()));
    const json = text === '' ? undefined : parsedJson(text);
    return { status: answer.status, headers: answer.headers, json, hint: strangerHint(asked, answer) };
  }

  /** As `json`, for an answer that must be an object. @throws ClientError also `unreadable` when it is none */
  async object<Reply extends object>(request: JsonRequest): Promise<Reply> {
    const { json, hint } = await this.json(request);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw new ClientError({ ...ownFailure('unreadable', 'The service answered something that is no answer.', true), hint });
    }
    // The service's answers have the shapes of protocol/; what is in them is checked where it is drawn.
    return json as Reply;
  }

  /** Uploads a file; its time is the platform's own. @throws ClientError */
  async file(
    file: { readonly content: FileContent; readonly name: string },
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<unknown> {
    const send: SendFile = this.#surroundings.sendFile;
    const address = this.address('/v1/uploads');
    const asked = `POST ${address}`;
    let answer: FileAnswer;
    try {
      answer = await send({
        address,
        headers: this.headers({ hasBody: false, isTurn: false }),
        file,
        signal,
        onProgress,
      });
    } catch (error) {
      const failure = ownFailure('unreachable', 'The file could not be sent. Check the connection.', true);
      throw new ClientError({ ...failure, hint: silenceHint(asked, error) });
    }
    if (answer.status >= 400) throw new ClientError(refusalFrom(asked, answer, answer.text, this.#surroundings.clock.nowMs()));
    return parsedJson(answer.text);
  }

  /** Developers are told what the service did not understand, which it says to test keys only: not with every turn anew. */
  #passWarning({ headers }: FetchAnswer, path: string): void {
    const warning = headers.get(WARNING_HEADER);
    if (warning === null || warning === '' || warning === this.#warned) return;
    this.#warned = warning;
    this.#log.say('warn', 'warning', { path }, warning);
  }

  async #inTime<Value>(asked: string, cancel: AbortController, work: () => Promise<Value>): Promise<Value> {
    let isLate = false;
    const stopTimer = this.#surroundings.clock.after(this.#options.requestTimeoutMs, () => {
      isLate = true;
      cancel.abort();
    });
    try {
      return await work();
    } catch (error) {
      const failure = isLate ? ownFailure('timeout', 'The assistant took too long to answer.', true) : UNREACHABLE;
      throw new ClientError({ ...failure, hint: silenceHint(asked, error) });
    } finally {
      stopTimer();
    }
  }
}
