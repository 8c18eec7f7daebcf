/** A service that is killed at random moments and started again on the same data, until it has died often enough. */
import { randomInt } from 'node:crypto';
import type { TestContext } from 'node:test';
import { eventually } from './eventually.ts';
import { isBrokenConnection } from './partial.ts';
import { type RunningService, startService } from './service.ts';
import { temporaryDir } from './temporary-dir.ts';

/** These are killed for another reason than what they answer. */
const TURN_LOSSES_MAX = '999';

export interface Mortality {
  /** Kills in all; then it lives on. */
  readonly kills: number;
  /** From being up to a kill: a random time in this range. */
  readonly lifeMs: readonly [number, number];
  readonly env?: Readonly<Record<string, string>>;
}

export class Mortal {
  readonly #t: TestContext;
  readonly #mortality: Mortality;
  readonly #dataDir: string;
  #service: Promise<RunningService> | null = null;
  #timer: NodeJS.Timeout | null = null;
  kills = 0;

  constructor(t: TestContext, mortality: Mortality) {
    this.#t = t;
    this.#mortality = mortality;
    this.#dataDir = temporaryDir(t);
  }

  /** The running service; started now if it is down. */
  up(): Promise<RunningService> {
    this.#service ??= this.#start();
    return this.#service;
  }

  async #start(): Promise<RunningService> {
    const { kills, lifeMs, env } = this.#mortality;
    const service = await startService(this.#t, {
      dataDir: this.#dataDir,
      env: { DEMO: 'off', LOG_LEVEL: 'silent', TURN_LOSSES_MAX, ...env },
    });
    if (this.kills < kills) this.#timer = setTimeout(() => void this.#kill(service), randomInt(...lifeMs));
    return service;
  }

  async #kill(service: RunningService): Promise<void> {
    this.kills += 1;
    await service.stop('SIGKILL');
    this.#service = null;
  }

  /** Runs `work` until it comes through; a connection that breaks is a kill, and everything else is a failure. */
  async through<T>(work: (service: RunningService) => Promise<T>): Promise<T> {
    for (;;) {
      const up = this.up();
      const service = await up;
      try {
        return await work(service);
      } catch (error) {
        if (!isBrokenConnection(error)) throw error;
        await eventually(() => this.#service !== up);
      }
    }
  }

  /** No more kills. */
  rest(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
