/** The program with four workers under attacks on one organisation's app, and what a client of another organisation meets meanwhile. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { createOperator, createTestApp, HANDSHAKE } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { residentBytes } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { type RunningService, startService } from '../support/service.ts';
import { AGENT, createAgent, fetchFile, openSession, tokenIn } from '../support/setup-agent.ts';
import { quantile } from './figures.ts';
import type { AttackReport } from './siege-attacker.ts';
import type { AttackOrder } from './siege-attacks.ts';

const WORKERS = 4;
const STARTS_MS = 90_000;
const MB = 1024 * 1024;
const PROBE_EVERY_MS = 200;
/** A setup session may ask 120 times a minute. */
const SETUP_EVERY_ROUNDS = 4;
const PROBE_WITHIN_MS = 15_000;
/** Stretches of a worker's loop of which the log speaks. */
const STALL_MS = 50;
/** After an attack: what it left to do is done before the next begins. */
const REST_MS = 1_500;

/** What the client of another organisation met during one attack, in ms. */
export interface Probed {
  readonly waits: number[];
  /** By kind of request. */
  readonly worst: Record<string, number>;
  readonly refused: string[];
  /** Waits for a trivial server in a process of its own: what the machine adds. */
  readonly control: number[];
}

export interface Besieged {
  readonly attack: string;
  readonly report: AttackReport | undefined;
  readonly probed: Probed;
  /** Most that one worker held at a time. */
  readonly workerBytes: number;
  /** Workers that ended. */
  readonly ended: number;
  /** Longest stretch of a worker's loop by processor time; 0: none over 50 ms. */
  readonly stallMs: number;
}

export interface Siege {
  attack(name: string, forMs: number): Promise<Besieged>;
}

interface Neighbour {
  readonly key: string;
  readonly appId: string;
  readonly setupToken: string;
}

function program(t: TestContext, name: string) {
  const child = fork(fileURLToPath(new URL(`./${name}.js`, import.meta.url)), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

function workersOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

function heldBy(pid: number): number {
  try {
    return residentBytes(pid);
  } catch {
    return 0;
  }
}

async function setupTokenOf({ baseUrl, operatorToken }: RunningService, appId: string): Promise<string> {
  const { code } = await openSession(createOperator(baseUrl, operatorToken), appId, 'sync');
  const token = tokenIn((await fetchFile(baseUrl, code)).text);
  await createAgent(() => baseUrl, token).get('POST', '/start', AGENT);
  return token;
}

/** One request of the neighbour, over a connection of its own, so that every worker is met. */
async function ask(probed: Probed, kind: string, url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<void> {
  const dispatcher = new Agent({ pipelining: 0 });
  const beganMs = performance.now();
  try {
    const signal = AbortSignal.timeout(PROBE_WITHIN_MS);
    const answer = await request(url, { method: body === undefined ? 'GET' : 'POST', headers, body: body ?? null, dispatcher, signal });
    const text = await answer.body.text();
    const isRefused = answer.statusCode >= 400 || (kind === 'chat' && !text.includes('"status":"completed"'));
    if (isRefused) probed.refused.push(`${kind} ${answer.statusCode} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`);
  } catch (error) {
    probed.refused.push(`${kind} ${(error as NodeJS.ErrnoException).code ?? (error as Error).name}`);
  } finally {
    void dispatcher.destroy();
  }
  const tookMs = performance.now() - beganMs;
  if (kind === 'control') {
    probed.control.push(tookMs);
    return;
  }
  probed.waits.push(tookMs);
  probed.worst[kind] = Math.max(probed.worst[kind] ?? 0, tookMs);
}

async function probe(service: RunningService, neighbour: Neighbour, controlUrl: string, goesOn: () => boolean): Promise<Probed> {
  const probed: Probed = { waits: [], worst: {}, refused: [], control: [] };
  const { baseUrl, operatorToken } = service;
  const asked: Promise<void>[] = [];
  for (let round = 0; goesOn(); round++) {
    const headers = { 'X-Service-Key': neighbour.key, 'X-Service-Device': randomUUID().replaceAll('-', '') };
    const turn = JSON.stringify({ turn_id: randomUUID(), client: HANDSHAKE, message: { text: 'Hello?' } });
    asked.push(ask(probed, 'control', controlUrl, {}));
    asked.push(ask(probed, 'chat', `${baseUrl}/v1/chat`, { ...headers, 'Content-Type': 'application/json' }, turn));
    asked.push(ask(probed, 'config', `${baseUrl}/v1/apps/config`, headers));
    const bearer = { Authorization: `Bearer ${operatorToken}` };
    asked.push(ask(probed, 'console', `${baseUrl}/console/api/apps/${neighbour.appId}`, bearer));
    const setup = { Authorization: `Bearer ${neighbour.setupToken}` };
    if (round % SETUP_EVERY_ROUNDS === 0) asked.push(ask(probed, 'setup', `${baseUrl}/setup/status`, setup));
    await pause(PROBE_EVERY_MS);
  }
  await Promise.all(asked);
  return probed;
}

/** Longest stretch by processor time of which the log speaks in this part. */
function longestStallMs(log: string): number {
  const stalls = log.split('\n').filter((line) => line.includes('"msg":"the event loop was blocked by its own work"'));
  return Math.max(0, ...stalls.map((line) => Number(/"cpu_ms":(\d+)/.exec(line)?.[1] ?? 0)));
}

async function neighbourOf(service: RunningService): Promise<Neighbour> {
  const { liveKey: key, appId } = await createTestApp(service.baseUrl, service.operatorToken);
  return { key, appId, setupToken: await setupTokenOf(service, appId) };
}

/** An organisation of a customer as it is by itself: with the limits that an app has when nobody sets any. */
async function besiegedApp({ baseUrl, operatorToken }: RunningService): Promise<{ appId: string; key: string }> {
  const operator = createOperator(baseUrl, operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Besieged', plan: 'scale' })).json as { org: { id: string } };
  const made = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Besieged' })).json as {
    app: { id: string };
    keys: { live: string };
  };
  await operator('POST', `/apps/${made.app.id}/go-live`);
  return { appId: made.app.id, key: made.keys.live };
}

/** Starts the program with its workers, Redis and a model, all on loopback. */
export async function besiege(t: TestContext): Promise<Siege> {
  const redis = await startRedis(t);
  const beside = program(t, 'siege-model');
  const [{ modelUrl, controlUrl }] = (await once(beside, 'message')) as [{ modelUrl: string; controlUrl: string }];
  const env = {
    WORKERS: String(WORKERS),
    REDIS_URL: redis.url,
    NODE_ID: 'n',
    DEMO: 'off',
    LOG_LEVEL: 'warn',
    STALL_MS: String(STALL_MS),
    OPENAI_BASE_URL: `${modelUrl}/v1`,
    MODEL: 'scripted',
    MODEL_CHECK: 'off',
    MODEL_PRICES: '{"scripted":{"input":1,"output":2}}',
  };
  const service = await startService(t, { env, mayStall: 'what it does under attack is measured here' });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const allListen = async () => {
    const { nodes } = (await operator('GET', '/nodes')).json as { nodes: readonly { url: string | null }[] };
    return nodes.filter(({ url }) => url !== null).length === WORKERS;
  };
  await eventually(allListen, STARTS_MS, () => service.output().stderr);
  const neighbour = await neighbourOf(service);
  let network = 0;
  return {
    async attack(name, forMs) {
      const { appId, key } = await besiegedApp(service);
      const order: AttackOrder = {
        attack: name,
        baseUrl: service.baseUrl,
        key,
        setupToken: await setupTokenOf(service, appId),
        forMs,
        network: ++network,
      };
      const logged = service.output().stderr.length;
      const workers = workersOf(service.pid);
      let workerBytes = 0;
      const sampler = setInterval(() => {
        workerBytes = Math.max(workerBytes, ...workersOf(service.pid).map(heldBy));
      }, PROBE_EVERY_MS);
      const attacker = program(t, 'siege-attacker');
      const exited = once(attacker, 'exit');
      let report: AttackReport | undefined;
      attacker.once('message', (said) => {
        report = said as AttackReport;
      });
      attacker.send(order);
      const probed = await probe(service, neighbour, controlUrl, () => attacker.exitCode === null && attacker.signalCode === null);
      await exited;
      await pause(REST_MS);
      clearInterval(sampler);
      const now = workersOf(service.pid);
      const stallMs = longestStallMs(service.output().stderr.slice(logged));
      return { attack: name, report, probed, workerBytes, ended: workers.filter((pid) => !now.includes(pid)).length, stallMs };
    },
  };
}

const ms = (value: number) => `${value.toFixed()} ms`;

/** What is to be told of one attack, in one line. */
export function told({ attack, report, probed, workerBytes, ended, stallMs }: Besieged): string {
  const answers = Object.entries(report?.answers ?? {}).map(([answer, n]) => `${n} × ${answer}`);
  const worst = Object.entries(probed.worst).map(([kind, wait]) => `${kind} ${wait.toFixed()}`);
  const refused =
    probed.refused.length === 0 ? 'none refused' : `${probed.refused.length} refused (${[...new Set(probed.refused)].join(', ')})`;
  return [
    `${attack}: ${report?.sent ?? '?'} requests (${answers.join(', ')})`,
    `neighbour ${probed.waits.length}: ${refused}, p50 ${ms(quantile(probed.waits, 0.5))}, worst ${ms(quantile(probed.waits, 1))} (${worst.join(', ')})`,
    `bare server worst ${ms(quantile(probed.control, 1))}`,
    `worker ${(workerBytes / MB).toFixed()} MB, ${ended} ended, longest stretch ${stallMs === 0 ? `under ${STALL_MS}` : stallMs} ms of processor time`,
  ].join('; ');
}
