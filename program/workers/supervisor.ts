/**
 * Supervises the processes of `WORKERS=n` (RUN-19 to RUN-24): starts them one after the other, restarts those that crash or hang,
 * forwards signals, restarts them one after the other on SIGHUP, and passes on what they print, line by line. Serves nothing itself and
 * opens no data: when it is killed, its workers notice the closed channel and drain.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import { Restarts, type RestartTimes } from './restarts.ts';
import { Worker, type WorkerTimes, within } from './worker.ts';

/** All in milliseconds; tests shorten them. */
export interface SupervisorTimes extends WorkerTimes, RestartTimes {
  /** A later worker that does not listen by then no longer holds up the others. */
  readonly startMs: number;
  /** Ctrl-C under npm arrives twice, from the terminal and from npm: within this time it counts once. */
  readonly sameSignalMs: number;
  /** How long the port may still be taken at a start, by workers of a predecessor that was killed and that drain now. */
  readonly portFreeMs: number;
}

export const SUPERVISOR_TIMES: SupervisorTimes = {
  firstBackOffMs: 500,
  longestBackOffMs: 30_000,
  longestServedBackOffMs: 1_000,
  longestOutageBackOffMs: 5_000,
  settledMs: 60_000,
  stopMs: 45_000,
  stuckMs: 40_000,
  startMs: 60_000,
  sameSignalMs: 1_000,
  portFreeMs: 5_000,
};

export interface SupervisorOptions {
  /** At least 1. */
  readonly workers: number;
  /** NODE_ID of the workers less their number; undefined: the machine's name. */
  readonly nodeId: string | undefined;
  readonly host: string;
  /** 0: the first worker takes a free one, the others get that. */
  readonly port: number;
  /** What the workers inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program, a path. */
  readonly entry: string;
  /** Its lines have to be written at once to `process.stderr`, where those of the workers are passed on. */
  readonly log: Logger;
  readonly times?: Partial<SupervisorTimes>;
}

/** How often a start looks whether the port is free. */
const PORT_LOOK_MS = 100;
/** Shorter than NODE_ID may be, which leaves room for the number. */
const NAME_MAX_CHARS = 60;

/** A machine may be called anything; a node may not. */
function nodeName(nodeId: string | undefined): string {
  return (nodeId ?? hostname()).replaceAll(/[^0-9A-Za-z._-]/g, '-').slice(0, NAME_MAX_CHARS);
}

/** Undefined when it can be listened on, else why not. */
async function takenBy({ host, port }: SupervisorOptions): Promise<string | undefined> {
  const probe = createServer().listen({ host, port, exclusive: true });
  try {
    await once(probe, 'listening');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
  probe.close();
  await once(probe, 'close');
  return undefined;
}

/** @throws Error when the address is taken: workers share the port with each other, and would with a stranger. */
async function requireFreePort(options: SupervisorOptions, { portFreeMs }: SupervisorTimes): Promise<void> {
  const endMs = performance.now() + portFreeMs;
  let code = await takenBy(options);
  while (code === 'EADDRINUSE' && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, PORT_LOOK_MS));
    code = await takenBy(options);
  }
  const { host, port } = options;
  if (code !== undefined) throw new Error(`Cannot listen on ${host}:${port}: the address is taken or not this machine's (${code}).`);
}

class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #times: SupervisorTimes;
  readonly #workers: readonly Worker[];
  readonly #restarts: Restarts;
  #port: number;
  /** The banner was not printed yet. */
  #bannerDue = true;
  /** Undefined until a signal asks for the end. */
  #stoppingSinceMs: number | undefined;
  readonly #gone: Promise<unknown>;
  #allGone: (value: unknown) => void = () => {};
  #gathering: Promise<readonly (readonly object[])[]> | undefined;
  /** Starting or restarting: one at a time. */
  #busy = true;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#times = { ...SUPERVISOR_TIMES, ...options.times };
    this.#port = options.port;
    this.#gone = new Promise((resolve) => {
      this.#allGone = resolve;
    });
    const { entry, log } = options;
    const nodeId = nodeName(options.nodeId);
    const restarts = new Restarts(this.#times);
    this.#restarts = restarts;
    this.#workers = Array.from({ length: options.workers }, (_, index) => {
      const name = `${nodeId}-${index + 1}`;
      return new Worker({ name, entry, log, restarts, times: this.#times, env: () => this.#env(name), gather: () => this.#gather() });
    });
  }

  /** Once for all that ask at the same time. */
  #gather(): Promise<readonly (readonly object[])[]> {
    this.#gathering ??= Promise.all(this.#workers.map((worker) => worker.measured()))
      .then((all) => all.filter((values) => values !== undefined))
      .finally(() => {
        this.#gathering = undefined;
      });
    return this.#gathering;
  }

  #env(node: string): NodeJS.ProcessEnv {
    const { WORKERS: _, ...env } = this.#options.env;
    const { workers } = this.#options;
    const told = { NODE_ID: node, PORT: String(this.#port), SUPERVISED: String(workers), BANNER: this.#bannerDue ? 'on' : 'off' };
    // While nobody serves, a slow worker is better than none.
    return { ...env, ...told, ...(!this.#bannerDue && !this.#restarts.isServed && { WARM_UP: 'off' }) };
  }

  /** Until all workers are gone: 0, or the exit code of a first worker that did not come up. */
  async run(): Promise<number> {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.#stop(signal));
    // At a terminal SIGHUP means that it was closed; elsewhere it asks a daemon to restart.
    const atTerminal = [0, 1, 2].some((fd) => isatty(fd));
    process.on('SIGHUP', () => (atTerminal ? this.#stop('SIGTERM') : void this.#restartInTurn()));
    // The consumer of the log may end; the service goes on.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

    if (this.#port !== 0) await requireFreePort(this.#options, this.#times);
    const failure = await this.#startAll();
    if (failure !== undefined) return failure;
    await this.#gone;
    this.#options.log.info('stopped');
    return 0;
  }

  get #stopping(): boolean {
    return this.#stoppingSinceMs !== undefined;
  }

  /** The exit code when the first worker does not come up. */
  async #startAll(): Promise<number | undefined> {
    const { log, workers } = this.#options;
    for (const worker of this.#workers) {
      if (this.#stopping) return undefined;
      // The first one has no time limit: it may have to migrate the files.
      const first = this.#bannerDue;
      const start = first ? await worker.start({ trial: true }) : await within(worker.start(), this.#times.startMs);
      if (!first) continue;
      this.#bannerDue = false;
      if (start === 'late' || this.#stopping) continue;
      if (start.outcome === 'ended') return start.code ?? 1;
      this.#port = start.port;
    }
    this.#busy = false;
    if (!this.#stopping) log.info({ workers, port: this.#port }, 'all workers were started');
    return undefined;
  }

  #stop(signal: NodeJS.Signals): void {
    const { log } = this.#options;
    const nowMs = performance.now();
    if (this.#stoppingSinceMs === undefined) {
      log.info({ signal }, 'stopping the workers');
      this.#stoppingSinceMs = nowMs;
      void Promise.all(this.#workers.map((worker) => worker.stop(signal))).then(this.#allGone);
    } else if (nowMs - this.#stoppingSinceMs > this.#times.sameSignalMs) {
      log.warn({ signal }, 'second signal: killing the workers');
      for (const worker of this.#workers) worker.kill();
    }
  }

  /** One after the other, so that the rest serve; ends at the first that does not come up again, and leaves the others as they are. */
  async #restartInTurn(): Promise<void> {
    const { log } = this.#options;
    if (this.#stopping) return;
    if (this.#busy) {
      log.warn('restart ignored because workers are still being started: send SIGHUP again later');
      return;
    }
    this.#busy = true;
    log.info('restarting the workers one after the other');
    for (const worker of this.#workers) {
      await worker.stop('SIGTERM');
      if (this.#stopping) return;
      const start = await within(worker.start(), this.#times.startMs);
      if (start === 'late' || start.outcome === 'ended') {
        log.error({ worker: worker.name }, 'a restarted worker did not start: the restart ended, and the other workers were not restarted');
        break;
      }
    }
    log.info('the restart of the workers ended');
    this.#busy = false;
  }
}

/**
 * Runs the workers until a signal ends them; returns the exit code of this process. Each is `entry` in a process of its own with
 * `NODE_ID=<name>-<k>`, the same `PORT`, no `WORKERS`, and `SUPERVISED=<workers>`; `BANNER` is `on` for the first start of the first one and `off` for all else, and
 * `WARM_UP` `off` for one that starts while none serves.
 * @throws Error when the port is taken.
 */
export function supervise(options: SupervisorOptions): Promise<number> {
  return new Supervisor(options).run();
}
