/** A host of a cell, as far as one machine can have several: a data directory, a port, and processes that can be lost all at once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { litestreamBin } from '../../tests/support/litestream.ts';
import { freePort, type Running, start } from '../servers/processes.ts';
import { consoleOf } from '../servers/service.ts';
import type { Site } from './site.ts';

const program = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const READY_TIMEOUT_MS = 120_000;

export const OPERATOR_TOKEN = 'the-operator-of-the-whole-drill';

interface HostPlan {
  readonly site: Site;
  readonly name: string;
  readonly cell: string;
  /** Undefined: it is not replicated. */
  readonly replica: string | undefined;
  /** Wins over what every host is given: another node of a cell has its directory and its address. */
  readonly env?: Readonly<Record<string, string>>;
}

export class Host {
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #name: string;
  readonly #logFile: string;
  #service: Running | undefined;

  private constructor({ site, name, cell, replica, env = {} }: HostPlan, port: number) {
    this.dataDir = env.DATA_DIR ?? join(site.dir, name);
    this.baseUrl = `http://127.0.0.1:${port}`;
    this.#name = name;
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
      ...env,
    };
  }

  static async make(plan: HostPlan): Promise<Host> {
    return new Host(plan, await freePort());
  }

  async start(): Promise<void> {
    this.#service = await start({
      name: this.#name,
      file: program('main.js'),
      args: [],
      env: this.#env,
      logFile: this.#logFile,
      readyUrl: `${this.baseUrl}/healthz`,
      readyTimeoutMs: READY_TIMEOUT_MS,
    });
  }

  /** Undefined: it does not run. */
  get pid(): number | undefined {
    return this.#service?.pid;
  }

  /** Its processes are gone at once. */
  async burn(): Promise<void> {
    const gone = this.#service?.stop('SIGKILL');
    if (gone !== undefined) this.#killLitestream();
    this.#service = undefined;
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
    await this.#service?.stop();
    this.#service = undefined;
  }

  /**
   * Takes the cell over into the data directory of this host; `onFenced` is called as soon as the command says that the old one is fenced.
   * @throws Error with what the command said when it fails
   */
  async takeOver(cell: string, from: string, onFenced: () => void): Promise<void> {
    const child = spawn(process.execPath, [program('cli.js'), 'cell', 'take-over', cell, '--from', from], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...this.#env },
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

  operator<Body>(method: string, path: string, body?: object): Promise<Body> {
    return consoleOf(this.baseUrl, OPERATOR_TOKEN).call(method, path, body) as Promise<Body>;
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
