/**
 * One thread beside the event loop for named calls that take longer than a loop may: plain data in, plain data out, one at a time, in
 * their order. Owns the thread (made at the first call, made again when it died), the bound of what waits, and the promises.
 * What a call does stands in the thread's module, which gives its calls to `serveCalls` (side-calls.ts).
 */
import { Worker } from 'node:worker_threads';
import type { CallAnswer, CallRequest } from './side-calls.ts';

/** Each may take a second; whoever comes after these waited a minute. */
const WAITING_MAX = 64;

/** Too much waits, the thread died, or it was closed. The same call may succeed later. */
export class SideThreadBusy extends Error {}

type Calls = Readonly<Record<string, (input: never) => unknown>>;

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

  /** `module`: the compiled file that the thread runs. */
  constructor(module: URL, name: string) {
    this.#module = module;
    this.#name = name;
  }

  /**
   * Calls `name` in the thread. Calls of one `key` that wait at the same time are made once: each still sees what was there when it
   * was asked for. @throws what the call throws, as an Error of its message with its code; SideThreadBusy.
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

  /** Ends the thread; what waits is refused. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#drop(new SideThreadBusy(`${this.#name} is closed`));
    for (const each of this.#waiting.splice(0)) each.reject(new SideThreadBusy(`${this.#name} is closed`));
    await worker?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined || this.#closed) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#running = next;
    const request: CallRequest = { name: next.name, input: next.input };
    try {
      const worker = this.#thread();
      // Only while somebody waits for it does it keep the process.
      worker.ref();
      worker.postMessage(request);
    } catch (error) {
      // No thread could be made, or the input is no plain data.
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
