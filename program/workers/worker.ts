/**
 * One worker of the supervisor: the process in its place, started again when it ends unasked (`restarts.ts` says when), killed when it
 * stands still; its lines are passed on.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from 'pino';
import { type GatherMessage, gatherMessage, MEASURED_MS } from './gathered.ts';
import type { Place, Restarts } from './restarts.ts';

/** All in milliseconds. */
export interface WorkerTimes {
  /** A drain takes 32 s at most and the writer's last checkpoint a few more; what is there after this is stuck. */
  readonly stopMs: number;
  /** A worker that is silent for this long hangs. The longest legitimate block is waiting for another process to migrate a file: 30 s. */
  readonly stuckMs: number;
}

/** Checks within `stuckMs`. They are counted, so that time in which the supervisor itself was blocked does not count. */
const STUCK_LOOKS = 10;

/** What a worker tells once it takes requests, over the channel that `fork` opens (`process.send`). */
export interface ListeningMessage {
  readonly kind: 'listening';
  readonly port: number;
  readonly publicUrl: string;
}

/** What it tells from then on, at once and every second. */
export interface AliveMessage {
  readonly kind: 'alive';
}

export const ALIVE_EVERY_MS = 1_000;

export interface WorkerOptions {
  readonly name: string;
  /** The program, a path. */
  readonly entry: string;
  /** Asked at each start. */
  env(): NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly times: WorkerTimes;
  readonly restarts: Restarts;
  /** What all workers count, for the one that is asked. */
  gather(): Promise<readonly (readonly object[])[]>;
}

/** How a start went; `ended` has the exit code, null after a signal. */
export type Start = { readonly outcome: 'listening'; readonly port: number } | { readonly outcome: 'ended'; readonly code: number | null };

/** `done`, or `late` when that takes longer than `ms`. */
export function within<T>(done: Promise<T>, ms: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, ms, 'late');
  });
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}

/** A process that writes this much without a line break writes no log. */
const LINE_MAX_CHARS = 1024 * 1024;

/** Passes on whole lines, each in one write, so that lines of several processes never mix. */
function passLines(from: Readable, to: Writable): void {
  let begun = '';
  from.setEncoding('utf8').on('data', (text: string) => {
    begun += text;
    const end = begun.length > LINE_MAX_CHARS ? begun.length : begun.lastIndexOf('\n') + 1;
    if (end === 0) return;
    to.write(begun.slice(0, end));
    begun = begun.slice(end);
  });
  // A kill may cut the last line short.
  from.on('end', () => begun !== '' && to.write(`${begun}\n`));
}

function isListening(message: unknown): message is ListeningMessage {
  const { kind, port } = (message ?? {}) as Partial<Record<keyof ListeningMessage, unknown>>;
  return kind === 'listening' && typeof port === 'number';
}

function isAlive(message: unknown): message is AliveMessage {
  return ((message ?? {}) as Partial<Record<keyof AliveMessage, unknown>>).kind === 'alive';
}

/** One that is on its way out is told nothing. */
function tell(child: ChildProcess, message: GatherMessage): void {
  if (child.connected) child.send(message, () => {});
}

export class Worker {
  readonly #options: WorkerOptions;
  #child: ChildProcess | null = null;
  #ended: Promise<unknown> = Promise.resolve();
  readonly #place: Place;
  /** Its end was requested, or it has never come up: its exit is no crash. */
  #asked = false;
  #trial = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#place = options.restarts.place(() => void this.start());
  }

  get name(): string {
    return this.#options.name;
  }

  /** Settles once it listens or has ended. A `trial` that ends before it listens is not started again. Its predecessor must be gone. */
  start({ trial = false } = {}): Promise<Start> {
    this.#place.starting();
    this.#asked = false;
    this.#trial = trial;
    const { entry, env } = this.#options;
    const child = fork(entry, process.argv.slice(2), { env: env(), stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#child = child;
    this.#watch(child);
    if (child.stdout !== null) passLines(child.stdout, process.stdout);
    if (child.stderr !== null) passLines(child.stderr, process.stderr);
    const ended = this.#endOf(child);
    this.#ended = ended;
    const listening = new Promise<Start>((resolve) => {
      child.on('message', (message) => {
        if (!isListening(message)) return;
        this.#trial = false;
        if (!this.#asked) this.#place.serving();
        resolve({ outcome: 'listening', port: message.port });
      });
    });
    return Promise.race([listening, ended]);
  }

  /**
   * Kills a worker that hangs: other nodes take over its work, but the kernel would go on giving it connections, which nobody would answer.
   * A worker that never sent `alive`, because it is not up yet or of an earlier release, is left alone.
   */
  #watch(child: ChildProcess): void {
    const { name, log, times } = this.#options;
    let looks: NodeJS.Timeout | undefined;
    let silentLooks = 0;
    const look = () => {
      silentLooks += 1;
      if (silentLooks <= STUCK_LOOKS) return;
      clearInterval(looks);
      log.error({ worker: name }, 'a worker does not respond: killing it');
      child.kill('SIGKILL');
    };
    child.on('message', (message) => {
      if (gatherMessage(message)?.kind === 'gather') {
        void this.#options.gather().then((values) => tell(child, { kind: 'gathered', values }));
      }
      if (!isAlive(message)) return;
      silentLooks = 0;
      looks ??= setInterval(look, times.stuckMs / STUCK_LOOKS);
    });
    child.once('exit', () => clearInterval(looks));
  }

  async #endOf(child: ChildProcess): Promise<Start> {
    const { name, log } = this.#options;
    const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve) => {
      // Not `exit`: its last lines are to be read first.
      child.once('close', (code, signal) => resolve({ code, signal }));
      child.on('error', (error) => {
        // One that has no process will not close either; other errors are of a signal or message to one that is on its way out.
        if (child.pid !== undefined) return;
        log.error({ err: error, worker: name }, 'starting a worker failed: trying again');
        resolve({ code: 1, signal: null });
      });
    });
    this.#child = null;
    if (this.#asked || this.#trial) this.#place.away();
    else log.warn({ worker: name, code, signal, retry_in_ms: this.#place.ended() }, 'a worker exited: starting it again');
    return { outcome: 'ended', code };
  }

  /** Asks it to end and waits until it has; one that takes longer than `stopMs` is killed. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    const { name, log, times } = this.#options;
    this.#place.away();
    this.#asked = true;
    this.#child?.kill(signal);
    if ((await within(this.#ended, times.stopMs)) !== 'late') return;
    log.error({ worker: name }, 'a worker did not exit in time: killing it');
    this.kill();
    await this.#ended;
  }

  /** What it counts; undefined: it does not run, or does not answer in time. */
  async measured(): Promise<readonly object[] | undefined> {
    const child = this.#child;
    if (child === null || !child.connected) return undefined;
    let end = () => child;
    const told = new Promise<readonly object[] | undefined>((resolve) => {
      const heard = (raw: unknown) => {
        const message = gatherMessage(raw);
        if (message?.kind === 'measured') resolve(message.values);
      };
      child.on('message', heard);
      setTimeout(resolve, MEASURED_MS, undefined).unref();
      end = () => child.off('message', heard);
    });
    tell(child, { kind: 'measure' });
    return told.finally(() => end());
  }

  /** Kills it; work under way is lost, rows are not. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }
}
