/** Several programs on one data directory and one Redis, as users run them; killed, paused, woken and started again from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { createTestApp, type TestApp } from './client.ts';
import { operatorTokenOf } from './service.ts';
import { JUDGED_STALL_MS, judgeLoop } from './stall-judge.ts';
import { atEnd, temporaryDir } from './temporary-dir.ts';

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
/** Several start at once on machines with few cores. */
const START_TIMEOUT_MS = 180_000;
/** How much is kept of what a node wrote to stderr; enough to see why it went. */
const STDERR_KEPT_CHARS = 64 * 1024;

/** Up: takes requests. Draining: got SIGTERM. Paused: got SIGSTOP. Down: its process is gone. */
export type NodeState = 'up' | 'draining' | 'paused' | 'down';

export interface NodePlan {
  /** NODE_ID, which outlives a restart. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** What the program is started through, such as `ip netns exec <name>`; it must exec, so that the pid is the program's. */
  readonly through?: readonly string[];
}

export interface Exit {
  readonly node: string;
  readonly code: number | null;
  readonly stderr: string;
}

export class ClusterNode {
  readonly name: string;
  readonly #plan: NodePlan;
  readonly #dataDir: string;
  readonly #onUnexpectedExit: (exit: Exit) => void;
  #child: ChildProcess | null = null;
  #stdout = '';
  #stderr = '';
  state: NodeState = 'down';
  /** The address of the present start, or of the last one. */
  baseUrl = '';
  starts = 0;

  constructor(plan: NodePlan, dataDir: string, onUnexpectedExit: (exit: Exit) => void) {
    this.name = plan.name;
    this.#plan = plan;
    this.#dataDir = dataDir;
    this.#onUnexpectedExit = onUnexpectedExit;
  }

  /** @throws Error when it is down. */
  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.name} is down`);
    return pid;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Starts the program and waits for its banner. @throws Error with what it printed when it does not come up. */
  async start(): Promise<void> {
    if (this.#child !== null) throw new Error(`${this.name} runs already`);
    const [command = '', ...args] = [...(this.#plan.through ?? []), process.execPath, MAIN];
    const child = spawn(command, args, {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        PORT: '0',
        DATA_DIR: this.#dataDir,
        NODE_ID: this.name,
        DEMO: 'off',
        WARM_UP: 'off',
        STALL_MS: JUDGED_STALL_MS,
        ...this.#plan.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#stdout = '';
    this.#stderr = '';
    this.starts += 1;
    child.stderr.on('data', (chunk) => this.#wrote(String(chunk)));
    child.once('exit', (code) => this.#exited(child, code));
    this.baseUrl = await this.#banner(child);
    this.state = 'up';
  }

  #banner(child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`${this.name} ${what}: ${this.#stdout}${this.#stderr}`));
      const timer = setTimeout(() => fail(`is not up after ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
      child.once('exit', (code) => {
        clearTimeout(timer);
        fail(`ended with ${code} before it was up`);
      });
      child.stdout?.on('data', (chunk) => {
        this.#stdout += chunk;
        const url = /runtime +(http\S+)\/v1/.exec(this.#stdout)?.[1];
        if (url === undefined) return;
        clearTimeout(timer);
        resolve(url);
      });
    });
  }

  #wrote(text: string): void {
    this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT_CHARS);
    // For whoever looks for the reason of a failure: the logs of all nodes, in a directory of their choice.
    const logs = process.env.CHAOS_LOGS;
    if (logs !== undefined) appendFileSync(join(logs, `${this.name}.log`), text);
  }

  #exited(child: ChildProcess, code: number | null): void {
    const expected = this.state === 'draining' || child.signalCode === 'SIGKILL';
    this.state = 'down';
    this.#child = null;
    if (!expected || (code !== null && code !== 0)) this.#onUnexpectedExit({ node: this.name, code, stderr: this.#stderr });
  }

  /** Sends the signal and waits until the process is gone; returns its exit code, null after a kill. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    const child = this.#child;
    if (child === null) return null;
    const gone = once(child, 'exit');
    // At once, so that nobody else who kills picks it meanwhile.
    this.state = signal === 'SIGTERM' ? 'draining' : 'down';
    child.kill(signal);
    const [code] = (await gone) as [number | null];
    return code;
  }

  /** SIGSTOP */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
    this.state = 'paused';
  }

  /** SIGCONT */
  resume(): void {
    process.kill(this.pid, 'SIGCONT');
    this.state = 'up';
  }

  /** @throws AssertionError when its event loop stood still in the present start, or in the last one. */
  async judge(): Promise<void> {
    const running = this.state === 'up';
    await judgeLoop({ baseUrl: this.baseUrl, pid: this.#child?.pid ?? 0, running, stderr: this.#stderr, mayStall: undefined });
  }

  /** The same NODE_ID on the same data; kills what runs. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }
}

export interface ClusterOptions {
  /** Undefined: one program alone, without a cluster. */
  readonly redisUrl?: string;
  readonly nodes?: number;
  /** What every node is given, such as the model's. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Cluster {
  readonly dataDir: string;
  readonly operatorToken: string;
  readonly nodes: readonly ClusterNode[];
  /** Processes that ended although nobody sent them away. */
  readonly unexpectedExits: readonly Exit[];
  /** Those that take requests. @throws Error when there is none. */
  up(): readonly ClusterNode[];
  /** One more node; `env` of its own wins. */
  add(plan?: Partial<NodePlan>): Promise<ClusterNode>;
  /** A live app in an organisation of its own, without caps that a scenario would meet. */
  app(settings?: Readonly<Record<string, unknown>>): Promise<TestApp>;
  /** The organisation's rows, as they are now, on a connection that cannot write. */
  rows(organisationId: string): Database.Database;
  /** The node that owns the conversation by its row, or owned it last; undefined when that is none of these. */
  ownerOf(organisationId: string, conversationId: string): ClusterNode | undefined;
}

/** Caps that no scenario is about: as far out as the console lets them. */
const UNCAPPED = { messages_per_minute: 10_000, messages_per_day: 10_000_000, hard_cap: false };

/** Starts the first node and then, once it is up, the others. All of them end with the test. */
export async function startCluster(t: TestContext, { redisUrl, nodes: count = 4, env = {} }: ClusterOptions): Promise<Cluster> {
  const dataDir = temporaryDir(t);
  const nodes: ClusterNode[] = [];
  const unexpectedExits: Exit[] = [];
  const open = new Map<string, Database.Database>();
  // Nodes are killed here for another reason than what they answer.
  const common = { LOG_LEVEL: 'warn', TURN_LOSSES_MAX: '999', ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }), ...env };
  atEnd(t, async () => {
    for (const db of open.values()) db.close();
    try {
      await Promise.all(nodes.map((node) => node.judge()));
    } finally {
      await Promise.all(nodes.map((node) => node.kill()));
    }
  });
  const add = async (plan: Partial<NodePlan> = {}) => {
    const name = plan.name ?? `n${nodes.length + 1}`;
    const node = new ClusterNode({ ...plan, name, env: { ...common, ...plan.env } }, dataDir, (exit) => unexpectedExits.push(exit));
    nodes.push(node);
    await node.start();
    return node;
  };
  await add();
  await Promise.all(Array.from({ length: count - 1 }, () => add()));
  const operatorToken = env.OPERATOR_TOKEN ?? operatorTokenOf(dataDir, nodes[0]?.stdout ?? '');
  const up = () => {
    const serving = nodes.filter(({ state }) => state === 'up');
    if (serving.length === 0) throw new Error('no node is up');
    return serving;
  };
  const rows = (organisationId: string) => {
    let db = open.get(organisationId);
    if (db === undefined) {
      db = new Database(join(dataDir, 'organisations', `${organisationId}.sqlite`), { readonly: true });
      open.set(organisationId, db);
    }
    return db;
  };
  return {
    dataDir,
    operatorToken,
    nodes,
    unexpectedExits,
    up,
    add,
    rows,
    app: (settings = {}) => createTestApp(up()[0]?.baseUrl ?? '', operatorToken, { ...UNCAPPED, ...settings }),
    ownerOf(organisationId, conversationId) {
      const row = rows(organisationId).prepare('SELECT owner FROM conversations WHERE id = ?').get(conversationId) as
        | { owner: string }
        | undefined;
      if (row === undefined) return undefined;
      // A program alone writes no name.
      return row.owner === '' ? nodes[0] : nodes.find(({ name }) => row.owner.startsWith(`${name}~`));
    },
  };
}
