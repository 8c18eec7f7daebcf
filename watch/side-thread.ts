/**
 * One thread for named calls that are too long for the event loop: plain data in and out, one at a time, in order. Owns the thread (created by
 * a call, ended when none came for a minute), the bound on waiting calls, and the promises. The thread's module implements the calls and
 * passes them to `serveCalls`.
 */
import { parentPort, Worker } from 'node:worker_threads';

/** Each call may take a second, so a longer queue would mean waiting for more than a minute. */
const WAITING_MAX = 64;
/** A thread takes some 10 MB, and starting one some 50 ms: one that is called once a minute stays. */
export const THREAD_IDLE_MS = 60_000;

/** Too much waits, the thread died, or it was closed. The same call may succeed later. */
export class SideThreadBusy extends Error {}

type Calls = Readonly<Record<string, (input: never) => unknown>>;

interface CallRequest {
  readonly name: string;
  readonly input: unknown;
}

type CallAnswer =
  | { readonly ok: true; readonly value: unknown }
  /** `code`: the error's code, if it has one. */
  | { readonly ok: false; readonly message: string; readonly code: string | undefined };

interface Waiting {
  readonly name: string;
  readonly input: unknown;
  readonly key: string | undefined;
  readonly settled: Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class SideThread<Served extends Calls> {
  readonly #module: URL;
  readonly #name: string;
  #worker: Worker | undefined;
  readonly #waiting: Waiting[] = [];
  #running: Waiting | undefined;
  #closed = false;
  /** Ends the thread when no call comes. */
  #rest: NodeJS.Timeout | undefined;

  /** `module`: the compiled file that the thread runs. */
  constructor(module: URL, name: string) {
    this.#module = module;
    this.#name = name;
  }

  /**
   * Calls `name` in the thread. Waiting calls of one `key` are made once, and each still sees the state at the time of its request or
   * later. @throws what the call throws, as an Error with its message and code; SideThreadBusy.
   */
  call<N extends keyof Served & string>(name: N, input: Parameters<Served[N]>[0], key?: string): Promise<ReturnType<Served[N]>> {
    if (this.#closed) return Promise.reject(new SideThreadBusy(`${this.#name} is closed`));
    const same = key === undefined ? undefined : this.#waiting.find((each) => each.key === key && each.name === name);
    if (same !== undefined) return same.settled as Promise<ReturnType<Served[N]>>;
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(new SideThreadBusy(`${WAITING_MAX} calls wait already`));
    let resolve: Waiting['resolve'] = () => {};
    let reject: Waiting['reject'] = () => {};
    const settled = new Promise<unknown>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    this.#waiting.push({ name, input, key, settled, resolve, reject });
    this.#next();
    return settled as Promise<ReturnType<Served[N]>>;
  }

  /** Ends the thread and refuses waiting calls. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#rest);
    const worker = this.#worker;
    this.#drop(new SideThreadBusy(`${this.#name} is closed`));
    for (const each of this.#waiting.splice(0)) each.reject(new SideThreadBusy(`${this.#name} is closed`));
    await worker?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined || this.#closed) return;
    clearTimeout(this.#rest);
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#rest = setTimeout(() => this.#end(), THREAD_IDLE_MS).unref();
      return;
    }
    this.#running = next;
    const request: CallRequest = { name: next.name, input: next.input };
    try {
      const worker = this.#thread();
      // It keeps the process alive only while a call waits.
      worker.ref();
      worker.postMessage(request);
    } catch (error) {
      // The thread could not be created, or the input is not plain data.
      this.#drop(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(this.#module, { name: this.#name });
    worker.on('message', (answer: CallAnswer) => this.#answered(answer));
    worker.on('error', (error) => this.#died(worker, error));
    worker.on('exit', () => this.#died(worker, new SideThreadBusy(`${this.#name} ended`)));
    this.#worker = worker;
    return worker;
  }

  /** Nothing is under way; the next call starts another thread. */
  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  #answered(answer: CallAnswer): void {
    const done = this.#running;
    this.#running = undefined;
    this.#worker?.unref();
    if (answer.ok) done?.resolve(answer.value);
    else done?.reject(Object.assign(new Error(answer.message), answer.code === undefined ? {} : { code: answer.code }));
    this.#next();
  }

  #died(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#drop(error);
  }

  /** The call under way ends with `error`, and the next one begins. */
  #drop(error: Error): void {
    const running = this.#running;
    this.#running = undefined;
    running?.reject(error);
    this.#next();
  }
}

/** The thread's end: serves these calls, one after the other, to the thread that created this one. */
export function serveCalls(calls: Calls): void {
  parentPort?.on('message', ({ name, input }: CallRequest) => {
    let answer: CallAnswer;
    try {
      const call = Object.hasOwn(calls, name) ? calls[name] : undefined;
      if (call === undefined) throw new Error(`there is no call ${name}`);
      answer = { ok: true, value: call(input as never) };
    } catch (error) {
      const { code } = error as { code?: unknown };
      answer = {
        ok: false,
        message: error instanceof Error ? error.message : String(error),
        code: typeof code === 'string' ? code : undefined,
      };
    }
    parentPort?.postMessage(answer);
  });
}
