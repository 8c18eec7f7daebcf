/**
 * S1: setup agents at work, all at once. Each has an app and a session of its own, made over the console before the clock
 * starts, and goes round the calls of the setup interface just below the rate that a session may have. Afterwards every
 * session's events are read back: ids without gaps, and each line an agent sent under the id it was told.
 */
import { Pool } from 'undici';
import { peakRssBytes } from '../../meters/cpu.ts';
import { spending } from '../../meters/spending.ts';
import { type TextSource, textSource } from '../../model/text.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { digits, percentile } from '../../report/report.ts';
import { pause } from '../../servers/processes.ts';
import { type Console, createApp, createOrganisation, type Server, startServer } from '../../servers/service.ts';
import { CALLS, type Call } from './setup-calls.ts';

const AGENTS = 300;
const SECONDS = 60;
const QUICK_SECONDS = 5;
/** A session may make 120 a minute; an agent at 110 has room for the call that started it and never has to wait. */
const INTERVAL_MS = 60_000 / 110;
/** How the apps are spread: all in one organization's file, or a file for each, more than the service keeps open. */
const SCENES = [
  { organisations: 1, label: 'one organization' },
  { organisations: AGENTS, label: 'an organization each' },
] as const;
/** Apps that are made at a time before the clock starts. */
const OPENED_AT_ONCE = 8;
/** The most that the console shows on one page. */
const EVENTS_PAGE = 1_000;
/** The reasons of the first failures say enough. */
const SHOWN_MAX = 5;

interface Agent {
  readonly sessionId: string;
  readonly token: string;
  readonly texts: TextSource;
  /** Counts the calls: which one is next, and what makes its content new. Agents begin at different ones. */
  calls: number;
  /** Title of each event that was sent, by the id that the service answered. */
  readonly told: Map<number, string>;
}

interface Sample {
  readonly call: string;
  readonly ms: number;
}

/** Counts what went wrong, shows the first reasons while it runs and keeps them. */
class Failures {
  count = 0;
  readonly reasons: string[] = [];

  add(reason: string): void {
    this.count++;
    if (this.reasons.length === SHOWN_MAX) return;
    this.reasons.push(reason);
    process.stderr.write(`S1: ${reason}\n`);
  }
}

/** What the agents met. */
interface Tally {
  readonly samples: Sample[];
  readonly errors: Failures;
  limited: number;
}

async function openAgent(server: Server, client: Pool, organisationId: string, seed: number): Promise<Agent> {
  const { appId } = await createApp(server.operator, organisationId);
  const { session, code } = (await server.operator.call('POST', `/apps/${appId}/sessions`, { kind: 'setup' })) as {
    session: { id: string };
    code: string;
  };
  const file = await client.request({ method: 'GET', path: `/setup/file?code=${code}` });
  const token = /rd_st_[0-9a-f]{24}/.exec(await file.body.text())?.[0];
  if (token === undefined) throw new Error(`GET /setup/file answered ${file.statusCode} without a token`);
  const agent = { sessionId: session.id, token, texts: textSource(seed), calls: seed, told: new Map<number, string>() };
  const started = await send(client, agent, 'POST', '/start', { tool: 'claude_code', model: 'model-1', os: 'linux' });
  if (started.status !== 200) throw new Error(`POST /start answered ${started.status}: ${started.text}`);
  return agent;
}

/** `make` called for each of the numbers from 0 below `count`, a few at a time; results in order. */
async function several<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) {
    const first = made.length;
    made.push(...(await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, count - first) }, (_, at) => make(first + at)))));
  }
  return made;
}

async function openAgents(server: Server, client: Pool, organisations: number): Promise<Agent[]> {
  const ids = await several(organisations, () => createOrganisation(server.operator));
  return several(AGENTS, (index) => openAgent(server, client, ids[index % ids.length] as string, index + 1));
}

async function send(client: Pool, agent: Agent, method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) {
  const {
    statusCode,
    headers,
    body: answer,
  } = await client.request({
    method,
    path: `/setup${path}`,
    headers: { authorization: `Bearer ${agent.token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: statusCode, retryAfterS: Number(headers['retry-after'] ?? 1), text: await answer.text() };
}

/** Makes one call and keeps what came of it. */
async function make(client: Pool, agent: Agent, call: Call, tally: Tally): Promise<void> {
  const body = call.body?.(agent.calls, agent.texts);
  const startedMs = performance.now();
  try {
    const { status, retryAfterS, text } = await send(client, agent, call.method, call.path, body);
    tally.samples.push({ call: call.name, ms: performance.now() - startedMs });
    if (status === 429) {
      tally.limited++;
      await pause(retryAfterS * 1_000);
    } else if (status === 200) {
      const problem = call.judge(JSON.parse(text), body, agent.told);
      if (problem !== undefined) tally.errors.add(`${call.name}: ${problem}: ${text.slice(0, 300)}`);
    } else tally.errors.add(`${call.name} answered ${status}: ${text.slice(0, 300)}`);
  } catch (error) {
    tally.errors.add(`${call.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The agent's calls between two times of `performance.now()`, one after the other; late ones are made up for until then. */
async function work(client: Pool, agent: Agent, fromMs: number, untilMs: number, tally: Tally): Promise<void> {
  for (let dueMs = fromMs; dueMs < untilMs; dueMs += INTERVAL_MS) {
    await pause(Math.max(0, dueMs - performance.now()));
    if (performance.now() >= untilMs) return;
    const call = CALLS[agent.calls % CALLS.length] as Call;
    await make(client, agent, call, tally);
    agent.calls++;
  }
}

/** All agents for so long, their calls spread evenly over the interval. */
async function workTogether(client: Pool, agents: readonly Agent[], durationMs: number, tally: Tally): Promise<void> {
  const startMs = performance.now();
  const offsetMs = INTERVAL_MS / agents.length;
  await Promise.all(agents.map((agent, at) => work(client, agent, startMs + at * offsetMs, startMs + durationMs, tally)));
}

interface EventsPage {
  readonly events: readonly { readonly id: number; readonly title: string | null }[];
  readonly next: number | null;
}

/** What is wrong with a session's events as the console shows them; undefined: nothing. */
async function faultIn(operator: Console, agent: Agent): Promise<string | undefined> {
  let last = 0;
  let missing = agent.told.size;
  for (let next: number | null = 0; next !== null; ) {
    const path: string = `/sessions/${agent.sessionId}?after=${next}&limit=${EVENTS_PAGE}`;
    const page = (await operator.call('GET', path)) as EventsPage;
    for (const { id, title } of page.events) {
      if (id !== last + 1) return `session ${agent.sessionId}: event ${id} follows ${last}`;
      last = id;
      const told = agent.told.get(id);
      if (told === undefined) continue;
      missing--;
      if (told !== title) return `session ${agent.sessionId}: event ${id} is "${title}" and not "${told}"`;
    }
    next = page.next;
  }
  return missing === 0 ? undefined : `session ${agent.sessionId}: ${missing} events that were accepted are not there`;
}

async function faultsIn(operator: Console, agents: readonly Agent[]): Promise<Failures> {
  const faults = new Failures();
  for (const agent of agents) {
    const fault = await faultIn(operator, agent);
    if (fault !== undefined) faults.add(fault);
  }
  return faults;
}

interface Figures {
  readonly label: string;
  readonly seconds: number;
  readonly samples: readonly Sample[];
  readonly cpu_us_per_request: number;
  readonly peak_rss_bytes: number;
  readonly limited: number;
  readonly errors: Failures;
  readonly faults: Failures;
}

const COLUMNS = [
  'apps in',
  'requests',
  'per s',
  'p50 ms',
  'p99 ms',
  'slowest ms',
  'CPU µs per request',
  'peak RSS MB',
  'answered 429',
  'errors',
  'sessions with gaps',
];
const CALL_COLUMNS = ['call', ...SCENES.map(({ label }) => `${label}: p50 / p99 ms`)];

function latency(samples: readonly Sample[], share: number): string {
  return digits(
    percentile(
      samples.map((sample) => sample.ms),
      share,
    ),
  );
}

function rowOf({ samples, ...figures }: Figures): string[] {
  return [
    figures.label,
    samples.length.toLocaleString('en-US'),
    digits(samples.length / figures.seconds),
    latency(samples, 0.5),
    latency(samples, 0.99),
    latency(samples, 1),
    digits(figures.cpu_us_per_request),
    (figures.peak_rss_bytes / 1e6).toFixed(0),
    `${figures.limited}`,
    `${figures.errors.count}`,
    `${figures.faults.count}`,
  ];
}

function callRow(name: string, scenes: readonly Figures[]): string[] {
  const cells = scenes.map(({ samples }) => {
    const own = samples.filter((sample) => sample.call === name);
    return `${latency(own, 0.5)} / ${latency(own, 0.99)}`;
  });
  return [name, ...cells];
}

async function play(server: Server, client: Pool, { organisations, label }: (typeof SCENES)[number], seconds: number): Promise<Figures> {
  const agents = await openAgents(server, client, organisations);
  const tally: Tally = { samples: [], errors: new Failures(), limited: 0 };
  await workTogether(client, agents, INTERVAL_MS * CALLS.length, tally);
  // The warm-up's times do not count; its failures do.
  tally.samples.length = 0;
  const {
    result: wallS,
    ns: [cpu = 0],
  } = await spending([server.process], async () => {
    const startedMs = performance.now();
    await workTogether(client, agents, seconds * 1_000, tally);
    return (performance.now() - startedMs) / 1_000;
  });
  return {
    label,
    seconds: wallS,
    samples: tally.samples,
    cpu_us_per_request: cpu / 1e3 / tally.samples.length,
    peak_rss_bytes: peakRssBytes(server.process.pid),
    limited: tally.limited,
    errors: tally.errors,
    faults: await faultsIn(server.operator, agents),
  };
}

async function measure(scene: QuestionScene): Promise<Finding> {
  const seconds = scene.seconds ?? (scene.quick ? QUICK_SECONDS : SECONDS);
  const found: Figures[] = [];
  for (const each of SCENES) {
    scene.onStep(`S1: ${each.label}`);
    const server = await startServer(scene.outDir, {});
    // As many connections as agents: none waits for another's answer.
    const client = new Pool(server.origin, { connections: AGENTS, pipelining: 1 });
    try {
      found.push(await play(server, client, each, seconds));
    } finally {
      await client.destroy();
      await server.stop();
    }
  }
  const calls = CALLS.map(({ name }) => callRow(name, found));
  const data = found.map(({ samples, ...figures }) => ({ ...figures, requests: samples.length }));
  return {
    tables: [
      { columns: COLUMNS, rows: found.map(rowOf) },
      { columns: CALL_COLUMNS, rows: calls },
    ],
    data,
  };
}

export const agents: Question = {
  name: 'S1',
  what: 'many setup agents at once',
  // Sessions are opened, and every agent goes round once, before the clock.
  expectedSeconds: ({ quick, seconds }) => SCENES.length * ((seconds ?? (quick ? QUICK_SECONDS : SECONDS)) + 15),
  measure,
};
