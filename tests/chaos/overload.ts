/** The program under more starts than it can do, on loopback: how long what it takes waits, and how soon it says no. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { compileLoad } from '../../bench/load/load.ts';
import { createOperator, createTestApp, HANDSHAKE } from '../support/client.ts';
import { readMetrics } from '../support/process.ts';
import { type RunningService, startService } from '../support/service.ts';
import { atEnd, temporaryDir } from '../support/temporary-dir.ts';
import { spread } from './figures.ts';
import { slowness } from './slowness.ts';

export interface Overload {
  /** Turns that the load client has open at a time, or waits to open again where it was told to come later. */
  readonly streams: number;
  /** Writes of the console and of setup, alternately. */
  readonly callsPerS: number;
  readonly forMs: number;
}

/** What probes beside the load met, in ms. */
export interface Figures {
  /** From sending to the first event, of turns of the organisation under load that were let in. */
  readonly started: number[];
  /** Of another organisation. */
  readonly neighbours: number[];
  /** From sending to 503: by the clock, and without the time in which the service or this client waited for a processor. */
  readonly refused: number[];
  readonly refusedOwn: number[];
  readonly calls: number[];
  /** How much slower than a quiet machine this one was, before the load or after it. */
  machineSlowness: number;
  failed: number;
  /** Turns of the load that were answered with 200, and with 503. */
  loadTaken: number;
  loadRefused: number;
}

/** Even a crowd does not come within one millisecond. */
const RAMP_MS = 2_000;
const WARM_UP = { streams: 32, forMs: 3_000, callsPerS: 0 };
const PROBE_EVERY_MS = 25;
/** Probes of the organisation under load at a time: enough refusals for a p99. */
const PROBES = 12;
const MESSAGE = { text: 'My telephone is 030 1234567. Hello?' };
const NS_PER_MS = 1e6;

/** How long the main thread of a process has been ready to run while others had the processors. */
function waitedMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / NS_PER_MS;
}

/** What of the time of `work` passed while both this process and the service could run. */
function ownTime(pid: number): () => number {
  const beganMs = performance.now();
  const before = [waitedMs(pid), waitedMs(process.pid)] as const;
  return () => {
    const others = Math.max(waitedMs(pid) - before[0], waitedMs(process.pid) - before[1]);
    return Math.max(0, performance.now() - beganMs - others);
  };
}

/** Opens one turn and reads it to its end. */
async function start({ baseUrl, pid }: RunningService, key: string, started: number[], figures: Figures): Promise<void> {
  const beganMs = performance.now();
  const ownMs = ownTime(pid);
  const answer = await request(`${baseUrl}/v1/chat`, {
    method: 'POST',
    headers: { 'X-Service-Key': key, 'X-Service-Device': randomUUID().replaceAll('-', ''), 'Content-Type': 'application/json' },
    body: JSON.stringify({ turn_id: randomUUID(), client: HANDSHAKE, message: MESSAGE }),
  });
  if (answer.statusCode === 503) {
    figures.refused.push(performance.now() - beganMs);
    figures.refusedOwn.push(ownMs());
    await answer.body.dump();
    return;
  }
  let began = false;
  for await (const chunk of answer.body) {
    if (began || !String(chunk).includes('turn.start')) continue;
    began = true;
    started.push(performance.now() - beganMs);
  }
  if (!began) figures.failed += 1;
}

/** Each probe of a kind begins when the one before has ended, so that they are no load of their own. */
async function probe(work: () => Promise<void>, untilMs: number, figures: Figures): Promise<void> {
  while (performance.now() < untilMs) {
    await work().catch(() => {
      figures.failed += 1;
    });
    await pause(PROBE_EVERY_MS);
  }
}

/** Writes of the console and of setup, alternately. */
async function call({ baseUrl, operatorToken }: RunningService, appId: string, round: number, figures: Figures): Promise<void> {
  const operator = createOperator(baseUrl, operatorToken);
  const beganMs = performance.now();
  const name = `Renamed ${round}`;
  const answer =
    round % 2 === 0 ? await operator('PATCH', `/apps/${appId}`, { name }) : await operator('POST', `/apps/${appId}/setup-sessions`, {});
  figures.calls.push(performance.now() - beganMs);
  if (answer.status >= 500) figures.failed += 1;
}

/** At their times, whatever became of those before. */
async function calls(service: RunningService, appId: string, perS: number, untilMs: number, figures: Figures): Promise<void> {
  const asked: Promise<void>[] = [];
  const fail = () => {
    figures.failed += 1;
  };
  for (let round = 0, dueMs = performance.now(); performance.now() < untilMs; round++, dueMs += 1_000 / perS) {
    await pause(Math.max(0, dueMs - performance.now()));
    asked.push(call(service, appId, round, figures).catch(fail));
  }
  await Promise.all(asked);
}

/** The load client of the benchmark, in C: it leaves the processor to the service. */
async function load(t: TestContext, baseUrl: string, key: string, { streams, forMs }: Overload): Promise<void> {
  const dir = temporaryDir(t);
  const program = compileLoad(dir);
  const [headers, body] = [join(dir, 'headers'), join(dir, 'body')];
  writeFileSync(headers, `X-Service-Key: ${key}\nX-Service-Device: %DEVICE%\nContent-Type: application/json\n`);
  writeFileSync(body, JSON.stringify({ turn_id: '%TURN%', client: HANDSHAKE, message: MESSAGE }));
  const options = {
    port: new URL(baseUrl).port,
    path: '/v1/chat',
    headers,
    body,
    mode: 'service',
    streams,
    seconds: Math.ceil(forMs / 1_000),
    'ramp-ms': RAMP_MS,
  };
  const child = spawn(
    program,
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    { stdio: 'ignore' },
  );
  atEnd(t, () => child.kill('SIGKILL'));
  await once(child, 'exit');
}

export async function overload(t: TestContext, plan: Overload): Promise<Figures> {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' }, mayStall: 'it is given more than it can do' });
  const { baseUrl, operatorToken } = service;
  const loaded = await createTestApp(baseUrl, operatorToken, { messages_per_minute: 10_000 });
  const neighbour = await createTestApp(baseUrl, operatorToken);
  const none = { started: [], neighbours: [], refused: [], refusedOwn: [], calls: [] };
  const figures: Figures = { ...none, machineSlowness: await slowness(), failed: 0, loadTaken: 0, loadRefused: 0 };
  // A crowd comes to a process that has been serving, as a rule: not to code that has never run.
  await load(t, baseUrl, loaded.liveKey, WARM_UP);
  const untilMs = performance.now() + plan.forMs;
  await Promise.all([
    load(t, baseUrl, loaded.liveKey, plan),
    ...Array.from({ length: PROBES }, () => probe(() => start(service, loaded.liveKey, figures.started, figures), untilMs, figures)),
    probe(() => start(service, neighbour.liveKey, figures.neighbours, figures), untilMs, figures),
    calls(service, neighbour.appId, plan.callsPerS, untilMs, figures),
  ]);
  figures.machineSlowness = Math.max(figures.machineSlowness, await slowness());
  const metrics = await readMetrics(baseUrl);
  const count = (status: number) => metrics.get(`gateway_requests_total{route="POST /v1/chat",status="${status}"}`) ?? 0;
  figures.loadTaken = count(200);
  figures.loadRefused = count(503);
  const answers = [...metrics]
    .filter(([name]) => name.startsWith('gateway_requests_total{route="POST /v1/chat"'))
    .map(([name, n]) => `${/status="(\d+)"/.exec(name)?.[1]}: ${n}`);
  t.diagnostic(
    `${plan.streams} streams at a time and ${plan.callsPerS} calls a second for ${plan.forMs} ms on a machine ${figures.machineSlowness.toFixed(1)} times as slow as a quiet one; answers ${answers.join(', ')}; overloads ${metrics.get('assistant_overloads_total')}`,
  );
  const reasons = service.output().stderr.matchAll(/"reasons":(\[[^\]]*\])/g);
  t.diagnostic(`reasons ${[...reasons].map(([, reason]) => reason).join(' ')}`);
  t.diagnostic(`let in ${figures.started.length}: ${spread(figures.started)}`);
  t.diagnostic(`let in of another organisation ${figures.neighbours.length}: ${spread(figures.neighbours)}`);
  t.diagnostic(
    `refused ${figures.refused.length}: ${spread(figures.refused)}; without waiting for a processor: ${spread(figures.refusedOwn)}`,
  );
  t.diagnostic(`console and setup ${figures.calls.length}: ${spread(figures.calls)}; failed ${figures.failed}`);
  return figures;
}
