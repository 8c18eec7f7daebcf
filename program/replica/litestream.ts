/**
 * Litestream as a child process: started with a configuration, started again with a growing pause when it ends unasked, stopped so that it
 * carries what is left. Owns the process, its pid file and the last thing that it complained about.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type DataLayout, replaceFile } from '../../storage/data-layout.ts';
import { logBytes } from '../../storage/sqlite/log-emptying.ts';
import { SideThread } from '../../watch/side-thread.ts';
import { backOffMs } from '../workers/restarts.ts';
import { configurationPath, isLitestream, type LitestreamName, litestreamEnvironment } from './litestream-configuration.ts';
import { LitestreamLog, type Told } from './litestream-log.ts';
import type { LongLogs } from './long-log-thread.ts';

export interface LitestreamOptions {
  readonly bin: string;
  readonly name: LitestreamName;
  readonly layout: DataLayout;
  configure(): Promise<void>;
  started(): void;
  told(told: Told): void;
}

/** After it ended: the first pause, doubling to the longest; one that ran for the last of these begins with the first again. */
const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 30_000;
const SETTLED_MS = 60_000;
/** What is left is sent within this time when the destination is there; while it is away Litestream would wait for it for ever. */
const STOP_MS = 10_000;
/** A longer line of Litestream's log is cut in its middle: what it did stands at the beginning, and why it failed at the end. */
const COMPLAINT_CHARS = 300;
/** A complaint about anything but sending is repeated with every try, so one that was not is over. */
const COMPLAINT_KEPT_MS = 60_000;
const COMPLAINT = /^time=\S{1,40} level=(?:WARN|ERROR) msg=|^cannot |^Error/i;

export class Litestream {
  readonly #options: LitestreamOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #starting: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #ends = 0;
  #stopped = true;
  #stops = 0;
  #complaint: { readonly text: string; readonly atMs: number } | undefined;
  #starts = 0;
  readonly #said = new LitestreamLog();

  constructor(options: LitestreamOptions) {
    this.#options = options;
  }

  get starts(): number {
    return this.#starts;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** It was not started yet, or stopped since: `restart` starts it. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  /** What it said last about what keeps it from working; undefined: nothing of late. */
  complaint(nowMs: number): string | undefined {
    const said = this.#complaint;
    if (said === undefined) return undefined;
    return !this.isRunning || this.#said.isRefused || nowMs - said.atMs < COMPLAINT_KEPT_MS ? said.text : undefined;
  }

  /** Whether it has been sending something for so long that its destination does not seem to take it. */
  isStuck(nowMs: number): boolean {
    return this.isRunning && this.#said.isStuck(nowMs);
  }

  #configurationPath(): string {
    return configurationPath(this.#options.layout, this.#options.name);
  }

  #pidPath(): string {
    return join(this.#options.layout.replica, `${this.#options.name}.pid`);
  }

  /** Ends what a keeper that was killed left behind: two that write to one destination spoil it. */
  endLeftOver(): void {
    let pid: number;
    try {
      pid = Number(readFileSync(this.#pidPath(), 'utf8'));
    } catch {
      return;
    }
    if (Number.isSafeInteger(pid) && pid > 1 && isLitestream(pid, this.#configurationPath())) process.kill(pid, 'SIGKILL');
  }

  /** One after the other: what prepares a start changes files that no Litestream may follow meanwhile. */
  #start(): Promise<void> {
    this.#starting = this.#starting.catch(() => {}).then(() => this.#startNow());
    return this.#starting;
  }

  async #startNow(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#stopped || this.isRunning) return;
    const stops = this.#stops;
    const problem = await versionProblem(this.#options.bin);
    if (problem !== undefined) {
      this.#complain(problem);
      this.#starts += 1;
      this.#timer = setTimeout(() => void this.#start(), LONGEST_BACK_OFF_MS).unref();
      return;
    }
    await this.#options.configure();
    // Stopped meanwhile: whoever starts it again has another configuration.
    if (this.#stopped || this.#stops !== stops || this.isRunning) return;
    const args = ['replicate', '-no-expand-env', '-config', this.#configurationPath()];
    const startedMs = performance.now();
    // Detached: Ctrl-C at a terminal is for the service, whose last writes it still has to send.
    const env = litestreamEnvironment(process.env);
    const child = spawn(this.#options.bin, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    this.#child = child;
    this.#starts += 1;
    this.#said.clear();
    this.#options.started();
    this.#ended = new Promise<void>((resolve) => {
      child.once('error', (error) => {
        this.#complain(notStarted(this.#options.bin, error));
        if (child.pid === undefined) resolve();
      });
      child.once('exit', () => resolve());
    }).then(() => this.#end(child, startedMs));
    if (child.pid !== undefined) replaceFile(this.#pidPath(), String(child.pid));
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.#read(line));
    }
  }

  #read(line: string): void {
    const told = this.#said.read(line, Date.now());
    if (told !== undefined) this.#options.told(told);
    if (COMPLAINT.test(line)) this.#complain(`Litestream says: ${shortened(reasonIn(line))}`);
  }

  #complain(text: string): void {
    this.#complaint = { text, atMs: Date.now() };
  }

  #end(child: ChildProcess, startedMs: number): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    rmSync(this.#pidPath(), { force: true });
    if (this.#stopped) return;
    this.#ends = performance.now() - startedMs >= SETTLED_MS ? 1 : this.#ends + 1;
    if (this.#complaint === undefined) this.#complain('Litestream ended by itself');
    this.#timer = setTimeout(() => void this.#start(), backOffMs(this.#ends, FIRST_BACK_OFF_MS, LONGEST_BACK_OFF_MS));
  }

  /** Starts it, anew with another configuration where it runs. `SIGKILL`: one that stands still would not end by itself. */
  async restart(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    this.#stopped = true;
    await this.#terminate(signal);
    this.#stopped = false;
    this.#ends = 0;
    await this.#start();
  }

  async #terminate(signal: NodeJS.Signals): Promise<void> {
    this.#stops += 1;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child === undefined) return;
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    child.kill(signal);
    await this.#ended;
    clearTimeout(kill);
  }

  /** Ends it; unless it is killed it sends what is left as far as its destination is there. Idempotent. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    this.#stopped = true;
    await this.#terminate(signal);
  }
}

function reasonIn(line: string): string {
  const at = line.indexOf(' error=');
  return at < 0
    ? line.replace(/^time=\S{1,40} /, '')
    : line
        .slice(at + ' error='.length)
        .replace(/^"|"$/g, '')
        .replaceAll(/\\[nt]/g, ' ')
        .replaceAll('\\"', '"')
        .trim();
}

function shortened(text: string): string {
  const half = COMPLAINT_CHARS / 2;
  return text.length <= COMPLAINT_CHARS ? text : `${text.slice(0, half)} … ${text.slice(-half)}`;
}

function notStarted(bin: string, error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  const why = code === 'ENOENT' ? 'was not found' : `cannot be started (${code ?? error.message})`;
  return `LITESTREAM_BIN "${bin}" ${why}: install Litestream, or say where it is`;
}

/** A free port of the loopback interface, for its metrics. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen({ host: '127.0.0.1', port: 0 });
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Those that seal what they send. The first versions 0.5 take the word, and send and read in clear. */
const SEALING = /^v?0\.3\.[1-9]\d/;
/** A program that is none says nothing. */
const VERSION_MAX_MS = 5_000;

/** Why this Litestream is not to be used; undefined: it may be, or cannot be run, which says itself. */
export async function versionProblem(bin: string): Promise<string | undefined> {
  const version = await litestreamVersion(bin);
  if (version === undefined || SEALING.test(version)) return undefined;
  return `LITESTREAM_BIN "${bin}" is version ${version}, and only 0.3.10 and what came after it in 0.3 seals what it sends: install 0.3.13`;
}

/** What `litestream` says about itself, such as "v0.3.13"; undefined when it cannot be run. Asked at each start: another one may be in its place. */
export async function litestreamVersion(bin: string): Promise<string | undefined> {
  const env = litestreamEnvironment(process.env);
  const child = spawn(bin, ['version'], { env, timeout: VERSION_MAX_MS, stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8', 0, COMPLAINT_CHARS);
  });
  try {
    await once(child, 'close');
    return text.trim() === '' ? undefined : text.trim().slice(0, COMPLAINT_CHARS);
  } catch {
    return undefined;
  }
}

/** The end of what a command says: the generation it worked on, and why it failed. */
const SAID_CHARS = 3_000;
/** What age says of a piece that this key does not open. */
const NOT_OURS = /no identity matched|failed to (?:read header|decrypt)/;
const GENERATION = /generation=([0-9a-f]{16})/;
/** Generations of one database: thousands of them. */
const PRINTED_CHARS = 500_000;

/** Runs a command about the database `name`. Returns what it printed. @throws Error with what Litestream said. */
export async function runLitestream(name: string, bin: string, args: readonly string[]): Promise<string> {
  const child = spawn(bin, args, { env: litestreamEnvironment(process.env), stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-SAID_CHARS);
    });
  }
  child.stdout.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString('utf8')).slice(0, PRINTED_CHARS);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', () => reject(new Error(`LITESTREAM_BIN "${bin}" cannot be started: install Litestream, or say where it is.`)));
    child.once('close', resolve);
  });
  if (code === 0) return printed;
  if (NOT_OURS.test(said)) {
    const place = GENERATION.exec(said)?.[1] ?? '';
    throw new Error(
      `${name}/generations/${place} in the replica was not sealed with this master key for this database, or was changed, nothing was restored. Give an earlier --at; what an older release sent is restored with that release.`,
    );
  }
  throw new Error(`Litestream could not restore ${name}, nothing was changed: ${said.trim().split('\n').at(-1) ?? `code ${code}`}`);
}

/** A log beyond this is moved into the file: some 15,000 pages, which Litestream reads from there as fast as from the log. */
const LOG_MAX_BYTES = 64 * 1024 * 1024;

const longLogs = new SideThread<LongLogs>(new URL('./long-log-thread.js', import.meta.url), 'long logs');

/**
 * Bounds the log of a replicated database (REPLICA-3): to be called before Litestream 0.3 is started, which then begins with a new snapshot of a
 * file that was changed here. Litestream moves the log into the file from 4 MB on, but not while it hangs or its program is missing. Nobody else
 * may do so while it runs: between two steps of its own it lets go of the log for a moment, and when the log begins anew twice in that moment, the
 * replica lacks what came between, without a word. Never throws.
 */
export async function cutLongLog(path: string): Promise<void> {
  if (logBytes(path) <= LOG_MAX_BYTES) return;
  // A disk that refuses shows with the next write.
  await longLogs.call('moveIntoFile', path).catch(() => {});
  rmSync(join(dirname(path), `.${basename(path)}-litestream`, 'generation'), { force: true });
}
