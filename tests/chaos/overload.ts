/** The program under more starts than it can do, on loopback: how long what it takes waits, and how soon it says no. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { compileLoad } from '../../bench/load.ts';
import { createOperator, createTestApp, HANDSHAKE } from '../support/client.ts';
import { readMetrics } from '../support/process.ts';
import { type RunningService, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { spread } from './figures.ts';

export interface Overload {
  /** Turns that the load client keeps asking for at a time: one that is refused asks again at once. */
  readonly streams: number;
  readonly forMs: number;
}

/** What probes beside the load met, in ms. */
export interface Figures {
  /** From sending to the first event, of turns that were let in. */
  readonly started: number[];
  /** From sending to 503. */
  readonly refused: number[];
  readonly calls: number[];
  failed: number;
  /** Turns of the load that were refused with 503. */
  loadRefused: number;
}

const PROBE_EVERY_MS = 50;
const MESSAGE = { text: 'My telephone is 030 1234567. Hello?' };

/** Opens one turn and reads it to its end. */
async function start(baseUrl: string, key: string, figures: Figures): Promise<void> {
  const beganMs = performance.now();
  const answer = await request(`${baseUrl}/v1/chat`, {
    method: 'POST',
    headers: { 'X-Service-Key': key, 'X-Service-Device': randomUUID().replaceAll('-', ''), 'Content-Type': 'application/json' },
    body: JSON.stringify({ turn_id: randomUUID(), client: HANDSHAKE, message: MESSAGE }),
  });
  if (answer.statusCode === 503) {
    figures.refused.push(performance.now() - beganMs);
    await answer.body.dump();
    return;
  }
  let began = false;
  for await (const chunk of answer.body) {
    if (began || !String(chunk).includes('turn.start')) continue;
    began = true;
    figures.started.push(performance.now() - beganMs);
  }
  if (!began) figures.failed += 1;
}

/** Each probe of a kind begins when the one before has ended, so that they are no load of their own. */
async function probe(work: (round: number) => Promise<void>, untilMs: number, figures: Figures): Promise<void> {
  for (let round = 0; performance.now() < untilMs; round++) {
    await work(round).catch(() => {
      figures.failed += 1;
    });
    await pause(PROBE_EVERY_MS);
  }
}

/** Writes of the console and of setup in turn. */
async function call({ baseUrl, operatorToken }: RunningService, appId: string, round: number, figures: Figures): Promise<void> {
  const operator = createOperator(baseUrl, operatorToken);
  const beganMs = performance.now();
  const name = `Renamed ${round}`;
  const answer =
    round % 2 === 0 ? await operator('PATCH', `/apps/${appId}`, { name }) : await operator('POST', `/apps/${appId}/setup-sessions`, {});
  figures.calls.push(performance.now() - beganMs);
  if (answer.status >= 500) figures.failed += 1;
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
  };
  const child = spawn(
    program,
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    { stdio: 'ignore' },
  );
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'exit');
}

export async function overload(t: TestContext, plan: Overload): Promise<Figures> {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' }, mayStall: 'it is given more than it can do' });
  const { baseUrl, operatorToken } = service;
  const loaded = await createTestApp(baseUrl, operatorToken, { messages_per_minute: 10_000 });
  const probed = await createTestApp(baseUrl, operatorToken);
  const figures: Figures = { started: [], refused: [], calls: [], failed: 0, loadRefused: 0 };
  const untilMs = performance.now() + plan.forMs;
  await Promise.all([
    load(t, baseUrl, loaded.liveKey, plan),
    probe(() => start(baseUrl, probed.liveKey, figures), untilMs, figures),
    probe((round) => call(service, probed.appId, round, figures), untilMs, figures),
  ]);
  const metrics = await readMetrics(baseUrl);
  figures.loadRefused = metrics.get('gateway_requests_total{route="POST /v1/chat",status="503"}') ?? 0;
  const answers = [...metrics]
    .filter(([name]) => name.startsWith('gateway_requests_total{route="POST /v1/chat"'))
    .map(([name, n]) => `${/status="(\d+)"/.exec(name)?.[1]}: ${n}`);
  t.diagnostic(
    `${plan.streams} streams at a time for ${plan.forMs} ms; answers ${answers.join(', ')}; overloads ${metrics.get('assistant_overloads_total')}`,
  );
  t.diagnostic(`let in ${figures.started.length}: ${spread(figures.started)}`);
  t.diagnostic(`refused ${figures.refused.length}: ${spread(figures.refused)}`);
  t.diagnostic(`console and setup ${figures.calls.length}: ${spread(figures.calls)}; failed ${figures.failed}`);
  return figures;
}
