/**
 * One process as a world: its clock, chance, timers and tasks are replaced, and every task has an owner, which can be killed or suspended.
 * Microtasks run to their end before the next task begins, so that whatever happens follows from the seed. Imported before the program is.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { mintId } from '../../protocol/ids.ts';
import { createDice, type Dice } from '../support/seeded.ts';

const require = createRequire(import.meta.url);
/** When each world begins. */
export const BEGINS_AT_MS = Date.parse('2026-11-21T10:00:00.000Z');
/** Between two tasks of one owner, so that those of others come in between. */
const SOON_MS = 0.05;

/** A process of the simulated world; null where one is asked for: the world itself, which neither dies nor sleeps. */
export class Owner {
  readonly name: string;
  isAlive = true;
  isSuspended = false;
  /** What is due once it wakes. */
  readonly held: Task[] = [];
  lastSoonMs = 0;
  /** Called once when it is killed. */
  readonly atEnd: (() => void)[] = [];

  constructor(name: string) {
    this.name = name;
  }
}

class Task {
  readonly atMs: number;
  readonly order: number;
  readonly owner: Owner | null;
  run: (() => void) | null;

  constructor(atMs: number, order: number, owner: Owner | null, run: () => void) {
    this.atMs = atMs;
    this.order = order;
    this.owner = owner;
    this.run = run;
  }
}

const before = (a: Task, b: Task) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** A binary heap. */
class Agenda {
  #tasks: Task[] = [];

  get size(): number {
    return this.#tasks.length;
  }

  push(task: Task): void {
    const tasks = this.#tasks;
    let at = tasks.push(task) - 1;
    for (let up = (at - 1) >> 1; at > 0 && before(task, tasks[up] as Task); up = (at - 1) >> 1) {
      tasks[at] = tasks[up] as Task;
      tasks[up] = task;
      at = up;
    }
  }

  pop(): Task | undefined {
    const tasks = this.#tasks;
    const first = tasks[0];
    const last = tasks.pop();
    if (first === undefined || last === undefined || first === last) return first;
    let at = 0;
    tasks[0] = last;
    for (;;) {
      let down = 2 * at + 1;
      if (down + 1 < tasks.length && before(tasks[down + 1] as Task, tasks[down] as Task)) down += 1;
      if (down >= tasks.length || !before(tasks[down] as Task, last)) return first;
      tasks[at] = tasks[down] as Task;
      tasks[down] = last;
      at = down;
    }
  }
}

const realImmediate = setImmediate;
const drained = () => new Promise<void>((resolve) => realImmediate(resolve));

class Timer {
  readonly #ms: number;
  readonly #run: () => void;
  readonly #repeats: boolean;
  #task: Task;

  constructor(run: () => void, ms: number, repeats: boolean) {
    this.#run = run;
    this.#ms = Math.max(1, Number.isFinite(ms) ? ms : 1);
    this.#repeats = repeats;
    this.#task = this.#plan(world.current);
  }

  #plan(owner: Owner | null): Task {
    return world.after(this.#ms, owner, () => {
      if (this.#repeats) this.#task = this.#plan(owner);
      this.#run();
    });
  }

  refresh(): this {
    const { owner } = this.#task;
    this.close();
    this.#task = this.#plan(owner);
    return this;
  }

  close(): void {
    this.#task.run = null;
  }

  ref = () => this;
  unref = () => this;
  hasRef = () => false;
  [Symbol.dispose] = () => this.close();
}

class World {
  dice: Dice = createDice(0);
  nowMs = 0;
  /** By how much the wall clock was set. */
  setMs = 0;
  current: Owner | null = null;
  steps = 0;
  #agenda = new Agenda();
  #order = 0;
  #digest = crypto.createHash('sha256');

  /** Everything begins anew, from this seed. */
  begin(seed: number): void {
    this.dice = createDice(seed);
    this.nowMs = 0;
    this.setMs = 0;
    this.steps = 0;
    this.current = null;
    this.#agenda = new Agenda();
    this.#order = 0;
    this.#digest = crypto.createHash('sha256');
  }

  wallMs(): number {
    return BEGINS_AT_MS + this.setMs + Math.floor(this.nowMs);
  }

  /** What happened, for the digest of the run; shown with SHOW=1. */
  note(what: string): void {
    const line = `${this.nowMs.toFixed(3)} ${this.current?.name ?? '-'} ${what}\n`;
    this.#digest.update(line);
    if (process.env.SHOW !== undefined) process.stderr.write(line);
  }

  digest(): string {
    return this.#digest.copy().digest('hex');
  }

  after(ms: number, owner: Owner | null, run: () => void): Task {
    this.#order += 1;
    const task = new Task(this.nowMs + ms, this.#order, owner, run);
    if (owner?.isAlive !== false) this.#agenda.push(task);
    return task;
  }

  /** A random delay from the first to the last, in ms. */
  between([fromMs, toMs]: readonly [number, number]): number {
    return fromMs + ((toMs - fromMs) * this.dice.below(2 ** 20)) / 2 ** 20;
  }

  /** Behind everything that the owner planned so before. */
  soon(owner: Owner | null, run: () => void): Task {
    const atMs = Math.max(owner?.lastSoonMs ?? 0, this.nowMs + this.between([0, SOON_MS]));
    if (owner !== null) owner.lastSoonMs = atMs;
    return this.after(atMs - this.nowMs, owner, run);
  }

  /** Runs as part of the owner's present task; not at all when it is dead, and once it wakes when it sleeps. */
  as(owner: Owner | null, run: () => void): void {
    if (owner?.isAlive === false) return;
    if (owner?.isSuspended === true) {
      owner.held.push(new Task(this.nowMs, 0, owner, run));
      return;
    }
    const outer = this.current;
    this.current = owner;
    run();
    this.current = outer;
  }

  kill(owner: Owner): void {
    owner.isAlive = false;
    owner.held.length = 0;
    for (const end of owner.atEnd.splice(0)) end();
  }

  wake(owner: Owner): void {
    owner.isSuspended = false;
    for (const task of owner.held.splice(0)) this.soon(owner, () => task.run?.());
  }

  /** Runs tasks until `isDone`, with `step` after each; false when the time is over first. @throws what a step throws */
  async run(isDone: () => boolean, limitMs: number, step: () => void): Promise<boolean> {
    const endMs = this.nowMs + limitMs;
    while (!isDone()) {
      const task = this.#agenda.pop();
      if (task === undefined) return false;
      if (task.atMs > endMs) {
        this.#agenda.push(task);
        return false;
      }
      if (task.run === null || task.owner?.isAlive === false) continue;
      this.nowMs = Math.max(this.nowMs, task.atMs);
      if (task.owner?.isSuspended === true) {
        task.owner.held.push(task);
        continue;
      }
      this.steps += 1;
      this.current = task.owner;
      task.run();
      await drained();
      this.current = null;
      step();
    }
    return true;
  }
}

export const world = new World();

/** What no task of anybody may throw; kept until the run looks at it. */
export const uncaught: unknown[] = [];
process.on('uncaughtException', (error) => uncaught.push(error));
process.on('unhandledRejection', (error) => uncaught.push(error));

type Callback = (...args: unknown[]) => void;

const timers = {
  setTimeout: (run: Callback, ms = 0, ...args: unknown[]) => new Timer(() => run(...args), ms, false),
  setInterval: (run: Callback, ms = 0, ...args: unknown[]) => new Timer(() => run(...args), ms, true),
  setImmediate: (run: Callback, ...args: unknown[]) => {
    const task = world.soon(world.current, () => run(...args));
    const close = () => {
      task.run = null;
    };
    return { close, ref() {}, unref() {}, hasRef: () => true };
  },
  clearTimeout: (timer?: { close(): void } | null) => timer?.close?.(),
  clearInterval: (timer?: { close(): void } | null) => timer?.close?.(),
  clearImmediate: (timer?: { close(): void } | null) => timer?.close?.(),
};

const pauses = {
  setTimeout: <T>(ms: number, value?: T) =>
    new Promise<T | undefined>((resolve) => void world.after(Math.max(1, ms), world.current, () => resolve(value))),
  setImmediate: <T>(value?: T) => new Promise<T | undefined>((resolve) => void world.soon(world.current, () => resolve(value))),
};

let filled = 0;
function randomFill(bytes: Uint8Array): Uint8Array {
  filled += 1;
  for (let at = 0; at < bytes.length; at++) bytes[at] = world.dice.below(256);
  return bytes;
}

const randomBytes = (size: number) => Buffer.from(randomFill(new Uint8Array(size)));

const chance = {
  randomBytes,
  randomFillSync: randomFill,
  randomInt: (a: number, b?: number) => (b === undefined ? world.dice.below(a) : world.dice.between(a, b - 1)),
  randomUUID: () => {
    const hex = randomBytes(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  },
};

/** Files through promises are used where nothing waits for them; here they take no time, so that no thread of the kernel's pool decides. */
const files = {
  readdir: async (path: string) => fs.readdirSync(path),
  rm: async (path: string, options?: fs.RmOptions) => fs.rmSync(path, options),
  mkdir: async (path: string, options?: fs.MakeDirectoryOptions) => fs.mkdirSync(path, options),
  rename: async (from: string, to: string) => fs.renameSync(from, to),
  writeFile: async (path: string, data: string, options?: fs.WriteFileOptions) => fs.writeFileSync(path, data, options),
  async open(path: string, flags: string, mode?: number) {
    const fd = fs.openSync(path, flags, mode);
    return {
      writeFile: async (data: Buffer) => fs.writeFileSync(fd, data),
      sync: async () => fs.fsyncSync(fd),
      close: async () => fs.closeSync(fd),
    };
  },
};

const RealDate = Date;
class SimulatedDate extends RealDate {
  constructor(...args: [] | [number | string]) {
    super(...((args.length === 0 ? [world.wallMs()] : args) as [number]));
  }
  static override now(): number {
    return world.wallMs();
  }
}

Object.assign(globalThis, timers, { Date: SimulatedDate });
Object.assign(require('node:timers'), timers);
Object.assign(require('node:timers/promises'), pauses);
Object.assign(crypto, chance);
Object.assign(fs.promises, files);
Object.assign(fs, {
  watch: () => {
    throw new Error('nothing watches folders here');
  },
});
Math.random = () => world.dice.below(2 ** 30) / 2 ** 30;
performance.now = () => world.nowMs;
Object.assign(process, { hrtime: Object.assign(() => [0, 0], { bigint: () => BigInt(Math.floor(world.nowMs * 1_000_000)) }) });
syncBuiltinESMExports();

/** Ids are minted from bytes that are kept for hundreds of them: from here on those are this world's. */
export function refillIds(): void {
  const before = filled;
  while (filled === before) mintId('org', 0);
}
