/** One parser process: given one document at a time, killed when it crashes, takes too long or needs too much memory. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { FrameReader, frameStart } from './frames.ts';
import type { Launch } from './launch.ts';
import type { ParseAnswer, ParseRequest } from './parse-jobs.ts';

/** Text of 200,000 characters with its passages, or the largest logo, escaped. */
const ANSWER_MAX_BYTES = 16 * 1024 * 1024;
/** A shell says so that a signal ended its command. */
const SIGNALLED = 128;

/** Why parsing failed: too much memory or time, a crash, or no process could be started, or its libraries not loaded. */
export type FailureKind = 'memory' | 'time' | 'broken' | 'unavailable';

export class ParseFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ParseFailure';
    this.kind = kind;
  }
}

export interface Document {
  readonly request: ParseRequest;
  readonly bytes: Uint8Array;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** V8 and the allocator end a process by these when they get no memory; the kernel and the watch thread by the last one. */
const SIGNALS_OF_MEMORY: readonly string[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGKILL'];

function failureOfEnd(code: number | null, ended: string | null): ParseFailure {
  const signal = ended ?? Object.entries(constants.signals).find(([, number]) => number + SIGNALLED === code)?.[0] ?? null;
  const how = signal === null ? `with code ${code}` : `by ${signal}`;
  if (signal === 'SIGXCPU') return new ParseFailure('time', `the parser ended ${how}`);
  return new ParseFailure(signal !== null && SIGNALS_OF_MEMORY.includes(signal) ? 'memory' : 'broken', `the parser ended ${how}`);
}

export class ParserProcess {
  readonly #child: ChildProcess;
  readonly #channel: Socket;
  readonly #frames = new FrameReader(ANSWER_MAX_BYTES);
  #settle: ((outcome: ParseAnswer | ParseFailure) => void) | undefined;
  #failure: ParseFailure | undefined;
  #documents = 0;
  #last: ParseAnswer | undefined;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;

  constructor({ command, args }: Launch) {
    this.#child = spawn(command, args, { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'pipe'], cwd: '/' });
    this.#channel = this.#child.stdio[3] as Socket;
    this.#channel.on('data', (piece: Buffer) => this.#hear(piece));
    // The exit of the process says more.
    this.#channel.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#fail(failureOfEnd(code, signal));
        resolve();
      });
      this.#child.once('error', (error) => {
        this.#fail(new ParseFailure('unavailable', 'a parser could not be started', { cause: error }));
        if (this.#child.pid === undefined) resolve();
      });
    });
    this.#hold(false);
  }

  /** Undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get documents(): number {
    return this.#documents;
  }

  /** CPU milliseconds and resident megabytes, as of its last answer. */
  get used(): { readonly cpuMs: number; readonly rssMb: number } {
    return this.#last ?? { cpuMs: 0, rssMb: 0 };
  }

  get isAlive(): boolean {
    return this.#failure === undefined;
  }

  /** @throws ParseFailure, after which it is of no more use; the reason of the signal, when that ended it. */
  async parse({ request, bytes, timeoutMs, signal }: Document): Promise<unknown> {
    signal?.throwIfAborted();
    this.#documents += 1;
    this.#hold(true);
    const stop = () => this.#kill('broken', 'its caller gave up');
    const timer = setTimeout(() => this.#kill('time', `the parser did not answer within ${timeoutMs} ms`), timeoutMs);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const outcome = await this.#exchange(request, bytes);
      signal?.throwIfAborted();
      if (outcome instanceof ParseFailure) throw outcome;
      if (outcome.ok) return outcome.value;
      this.#kill('broken', 'its document broke it');
      throw new ParseFailure(outcome.failure, outcome.message);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      this.#hold(false);
    }
  }

  end(): void {
    // Keeps the service alive until `ended`: a killed process exits soon.
    this.#child.ref();
    this.#kill('broken', 'it was ended');
  }

  #exchange(request: ParseRequest, bytes: Uint8Array): Promise<ParseAnswer | ParseFailure> {
    return new Promise((resolve) => {
      if (this.#failure !== undefined) {
        resolve(this.#failure);
        return;
      }
      this.#settle = resolve;
      this.#channel.cork();
      this.#channel.write(frameStart(request, bytes.byteLength));
      this.#channel.write(bytes);
      this.#channel.uncork();
    });
  }

  #hear(piece: Buffer): void {
    try {
      const frame = this.#frames.push(piece);
      if (frame === undefined) return;
      const settle = this.#settle;
      // It only answers requests.
      if (settle === undefined) throw new Error('the parser spoke unasked');
      this.#settle = undefined;
      this.#last = frame.head as ParseAnswer;
      settle(this.#last);
    } catch (error) {
      this.#kill('broken', error instanceof Error ? error.message : String(error));
    }
  }

  #kill(kind: FailureKind, message: string): void {
    this.#fail(new ParseFailure(kind, message));
    this.#child.kill('SIGKILL');
    this.#channel.destroy();
  }

  #fail(failure: ParseFailure): void {
    this.#failure ??= failure;
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(this.#failure);
  }

  #hold(isParsing: boolean): void {
    if (isParsing) {
      this.#child.ref();
      this.#channel.ref();
    } else {
      this.#child.unref();
      this.#channel.unref();
    }
  }
}
