/** A host of a cell, as far as one machine can have several: a data directory, a port, and processes that can be lost all at once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { litestreamBin } from '../../tests/support/litestream.ts';
import { freePort } from '../servers/processes.ts';
import type { Site } from './site.ts';

const program = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const READY_TIMEOUT_MS = 120_000;
const LOOK_MS = 50;

export const OPERATOR_TOKEN = 'the-operator-of-the-whole-drill';

export interface HostPlan {
  readonly site: Site;
  readonly name: string;
  readonly cell: string;
  /** Undefined: it is not replicated. */
  readonly replica: string | undefined;
}

export class Host {
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #logFile: string;
  #child: ChildProcess | undefined;

  private constructor({ site, name, cell, replica }: HostPlan, port: number) {
    this.dataDir = join(site.dir, name);
    this.baseUrl = `http://127.0.0.1:${port}`;
    this.#logFile = join(site.dir, `${name}.log`);
    this.#env = {
      ...site.modelEnv,
      ...site.storageEnv,
      ...(replica !== undefined && { REPLICA_URL: replica }),
      PORT: String(port),
      DATA_DIR: this.dataDir,
      CELL_ID: cell,
      CELL_URL: this.baseUrl,
      REDIS_URL: site.redisUrl,
      MASTER_KEY: Buffer.alloc(32, 5).toString('base64'),
      OPERATOR_TOKEN,
      DEMO: 'off',
      BANNER: 'off',
      ALLOW_PRIVATE_ADDRESSES: 'true',
      LITESTREAM_BIN: process.env.LITESTREAM_BIN ?? litestreamBin(),
      // It is killed for another reason than what it answers.
      TURN_LOSSES_MAX: '999',
    };
  }

  static async make(plan: HostPlan): Promise<Host> {
    return new Host(plan, await freePort());
  }

  #environment(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: process.env.HOME, ...this.#env };
  }

  /** Starts the service and waits until it answers. */
  async start(): Promise<void> {
    const log = openSync(this.#logFile, 'a');
    this.#child = spawn(process.execPath, [program('main.js')], { env: this.#environment(), stdio: ['ignore', log, log] });
    const endMs = performance.now() + READY_TIMEOUT_MS;
    while (!(await this.#answers())) {
      if (performance.now() > endMs || this.#child.exitCode !== null) throw new Error(`${this.#logFile}: ${this.log().slice(-2_000)}`);
      await pause(LOOK_MS);
    }
  }

  async #answers(): Promise<boolean> {
    return fetch(`${this.baseUrl}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  log(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  /** Its processes are gone at once. */
  async burn(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    this.#killLitestream();
    await gone;
  }

  #killLitestream(): void {
    for (const name of ['litestream.pid', 'newcomers.pid']) {
      try {
        process.kill(Number(readFileSync(join(this.dataDir, 'replica', name), 'utf8')), 'SIGKILL');
      } catch {
        // None was started, or it has ended.
      }
    }
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  /**
   * Takes the cell over into the data directory of this host; `onFenced` is called as soon as the command says that the old one is fenced.
   * @throws Error with what the command said when it fails
   */
  async takeOver(cell: string, from: string, onFenced: () => void): Promise<void> {
    const child = spawn(process.execPath, [program('cli.js'), 'cell', 'take-over', cell, '--from', from], {
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    let isFenced = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
        if (isFenced || !said.includes('the old host is fenced')) return;
        isFenced = true;
        onFenced();
      });
    }
    const [code] = (await once(child, 'close')) as [number];
    if (code !== 0) throw new Error(`the take-over ended with ${code}: ${said}`);
  }

  async operator<Body>(method: string, path: string, body?: object): Promise<Body> {
    const answer = await fetch(`${this.baseUrl}/console/api${path}`, {
      method,
      headers: { Authorization: `Bearer ${OPERATOR_TOKEN}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Body;
  }

  async readiness(): Promise<{ readonly status: number; readonly conditions: readonly string[] }> {
    const answer = await fetch(`${this.baseUrl}/readyz`);
    const { conditions = [] } = (await answer.json()) as { conditions?: { condition: string }[] };
    return { status: answer.status, conditions: conditions.map(({ condition }) => condition) };
  }

  /** A gauge of GET /metrics; NaN: there is none. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.baseUrl}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? Number.NaN);
  }
}
