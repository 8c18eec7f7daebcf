/** C1's requests: what an app's configuration is and how it is answered, and one call of the load client (`config-load.c`). */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileC, projectDir } from '../../load/compile.ts';
import { Connections } from '../../loadtest/connections.ts';
import { ask, mintDevice } from '../../loadtest/service-api.ts';
import { SilenceWatch } from '../../loadtest/silence-watch.ts';
import { CLIENT_CORE, pinned } from '../../servers/processes.ts';

export const CONFIG_PATH = '/v1/apps/config';

/** 304: the client names the configuration that it has. */
export type Status = 200 | 304;

type Headers = readonly (readonly [name: string, value: string])[];

export interface ConfigAnswer {
  readonly etag: string;
  /** In their order, without those that uWebSockets writes itself. */
  readonly headers: Readonly<Record<Status, Headers>>;
  readonly body: string;
}

export type ConfigApp = Awaited<ReturnType<typeof configOf>>;

const WRITTEN_BY_UWEBSOCKETS = new Set(['content-length', 'date']);
/** The load client gives up by itself after 15 s without an answer. */
const CALL_MAX_MS = 120_000;

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Asks once. Names of headers are in lower case, which are as many bytes as others. */
async function once(port: number, liveKey: string, etag?: string): Promise<Answered> {
  const connections = new Connections(new URL(`http://127.0.0.1:${port}`));
  const silence = new SilenceWatch();
  const tag = etag === undefined ? {} : { 'If-None-Match': etag };
  const headers = { 'X-Service-Key': liveKey, 'X-Service-Device': mintDevice(), ...tag };
  try {
    const answer = await ask(connections, { method: 'GET', path: CONFIG_PATH, headers }, silence.watch);
    return { status: answer.status, headers: [...answer.headers], body: answer.text };
  } finally {
    silence.close();
    connections.close();
  }
}

/** Both answers of a server for an app, whole and not modified. @throws Error when it gives others */
async function bothAnswers(port: number, liveKey: string): Promise<{ etag: string; whole: Answered; unchanged: Answered }> {
  const whole = await once(port, liveKey);
  const etag = whole.headers.find(([name]) => name === 'etag')?.[1];
  if (whole.status !== 200 || etag === undefined) throw new Error(`${CONFIG_PATH} answered ${whole.status}: ${whole.body}`);
  const unchanged = await once(port, liveKey, etag);
  if (unchanged.status !== 304) throw new Error(`${CONFIG_PATH} answered ${unchanged.status} to its own tag`);
  return { etag, whole, unchanged };
}

function toWrite({ headers }: Answered): Headers {
  return headers.filter(([name]) => !WRITTEN_BY_UWEBSOCKETS.has(name));
}

export async function configOf(port: number, liveKey: string) {
  const { etag, whole, unchanged } = await bothAnswers(port, liveKey);
  return { liveKey, answer: { etag, headers: { 200: toWrite(whole), 304: toWrite(unchanged) }, body: whole.body } };
}

/** Headers as sorted lines; the time and the id of a request differ, so that of values the length is told. */
function shapeOf({ headers, body }: Answered): string {
  return [...headers.map(([name, value]) => `${name}: ${value.length}`).sort(), body].join('\n');
}

/** @throws Error when two servers do not answer an app with equally many bytes under the same headers */
export async function checkSameBytes(port: number, otherPort: number, liveKey: string): Promise<void> {
  const [one, other] = [await bothAnswers(port, liveKey), await bothAnswers(otherPort, liveKey)];
  for (const each of ['whole', 'unchanged'] as const)
    if (shapeOf(one[each]) !== shapeOf(other[each]))
      throw new Error(`C1: the answers differ:\n${shapeOf(one[each])}\n\n${shapeOf(other[each])}`);
}

export function compileConfigLoad(outDir: string): string {
  const program = join(outDir, 'config-load');
  compileC(join(projectDir(), 'bench/questions/config/config-load.c'), program);
  return program;
}

export interface Asking {
  /** The load client's program; files for it go beside it. */
  readonly program: string;
  readonly port: number;
  readonly apps: readonly ConfigApp[];
  readonly status: Status;
  readonly requests: number;
  readonly connections: number;
}

export interface Asked {
  readonly ok: number;
  /** Not answered as is due, or never begun. */
  readonly broken: number;
  readonly reasons: readonly string[];
  /** From the first request on, once all connections are open, to the last answer. */
  readonly wallS: number;
  /** Part of its core that the load client used, 0 to 1. */
  readonly busy: number;
}

const run = promisify(execFile);

export async function askConfigs({ program, port, apps, status, requests, connections }: Asking): Promise<Asked> {
  const file = `${program}-apps.txt`;
  writeFileSync(file, apps.map(({ liveKey, answer }) => `${liveKey} ${answer.etag} ${Buffer.byteLength(answer.body)}\n`).join(''));
  const [command, ...args] = pinned(CLIENT_CORE, [program, String(port), file, String(status), String(requests), String(connections)]);
  const { stdout, stderr } = await run(command, args, { timeout: CALL_MAX_MS });
  return { ...(JSON.parse(stdout) as Omit<Asked, 'reasons'>), reasons: stderr.split('\n').filter((line) => line !== '') };
}
