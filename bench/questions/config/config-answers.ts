/**
 * C1: what the configuration of an app costs, which every client asks for when it starts, beside uWebSockets that answers the same bytes
 * without looking at who asks. Owns the two servers, the rounds and the table.
 */
import { join } from 'node:path';
import { CONFIG_PER_MINUTE_PER_APP } from '../../../protocol/limits.ts';
import { cpuNs, spending } from '../../meters/cpu.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { type Column, median, spread, sum, tableOf, whole } from '../../report/table.ts';
import { freePort, type Running, SERVER_CORE, start } from '../../servers/processes.ts';
import { createLiveAppIn, createOrganisation, type Server, startServer } from '../../servers/service.ts';
import { inOrderOf } from '../../workloads/rounds.ts';
import {
  type Asked,
  type Asking,
  askConfigs,
  type ConfigApp,
  checkSameBytes,
  compileConfigLoad,
  configOf,
  type Status,
} from './config-client.ts';

const CONNECTIONS = 64;
/** At least a third of a second of work for either server. */
const REQUESTS = 20_000;
const QUICK_REQUESTS = 1_000;
/** A round takes two seconds or more, so that no more than these fall into the minute in which an app counts its requests. */
const ROUNDS_A_MINUTE = 30;
const STATUSES: readonly Status[] = [304, 200];
/** The least that the service aims at, of what bare uWebSockets does with the same CPU time and in the same time. */
const AIMS: Readonly<Record<Status, number>> = { 304: 0.7, 200: 0.6 };

/** A server that uses less of its core waits for the client. */
const BUSY_MIN = 0.9;

interface Round extends Asked {
  readonly cpuUs: number;
  /** Part of its core that the server used while it was asked, 0 to 1. */
  readonly serverBusy: number;
}

interface Measured {
  readonly status: Status;
  readonly server: string;
  readonly rounds: Round[];
}

interface Answering {
  readonly name: string;
  readonly port: number;
  readonly process: Running;
}

function requestsOf({ quick }: Pick<QuestionScene, 'quick'>): number {
  return quick ? QUICK_REQUESTS : REQUESTS;
}

/** As many apps as it takes for none to be asked more often in a minute than its limit allows, the warm-up included. */
async function createApps({ operator, port }: Server, scene: QuestionScene): Promise<ConfigApp[]> {
  const requests = Math.min(scene.rounds + 1, ROUNDS_A_MINUTE) * STATUSES.length * requestsOf(scene);
  const organisationId = await createOrganisation(operator);
  const apps: ConfigApp[] = [];
  for (let at = 0; at <= requests / CONFIG_PER_MINUTE_PER_APP; at++)
    apps.push(await configOf(port, (await createLiveAppIn(operator, organisationId)).liveKey));
  return apps;
}

async function startBare({ outDir }: QuestionScene, { answer }: ConfigApp): Promise<Answering> {
  const port = await freePort();
  const process = await start({
    name: 'bare',
    core: SERVER_CORE,
    file: join(import.meta.dirname, 'bare-answers.js'),
    args: ['--port', String(port)],
    env: { BENCH_ANSWER: JSON.stringify(answer) },
    logFile: join(outDir, 'bare.log'),
    readyUrl: `http://127.0.0.1:${port}/healthz`,
  });
  return { name: 'bare', port, process };
}

async function measureRound({ process, name }: Answering, asking: Asking): Promise<Round> {
  const before = cpuNs(process.pid);
  const {
    result: { asked, whileAsked },
    ns: [cpu = 0],
  } = await spending([process], async () => ({ asked: await askConfigs(asking), whileAsked: cpuNs(process.pid) - before }));
  if (asked.ok === 0) throw new Error(`C1, ${name}: no answer was right: ${asked.reasons[0] ?? 'nothing came'}`);
  return { ...asked, cpuUs: cpu / 1e3 / asked.ok, serverBusy: whileAsked / 1e9 / asked.wallS };
}

async function measureAll(service: Server, scene: QuestionScene): Promise<Measured[]> {
  scene.onStep('C1: makes apps');
  const apps = await createApps(service, scene);
  const [first] = apps as [ConfigApp];
  const program = compileConfigLoad(scene.outDir);
  const bare = await startBare(scene, first);
  // Whoever asks the bare server is answered with the bytes of the first app.
  const players = [
    { answering: { name: 'service', ...service }, apps },
    { answering: bare, apps: [first] },
  ];
  const measured = STATUSES.flatMap((status) => players.map(({ answering }): Measured => ({ status, server: answering.name, rounds: [] })));
  try {
    await checkSameBytes(service.port, bare.port, first.liveKey);
    for (let round = -1; round < scene.rounds; round++) {
      scene.onStep(`C1: ${round < 0 ? 'warms up' : `round ${round + 1} of ${scene.rounds}`}`);
      for (const status of STATUSES)
        for (const { answering, apps: asked } of inOrderOf(players, round)) {
          const load = { program, apps: asked, status, requests: requestsOf(scene), connections: CONNECTIONS };
          const result = await measureRound(answering, { ...load, port: answering.port });
          const into = measured.find((each) => each.status === status && each.server === answering.name);
          if (round >= 0) into?.rounds.push(result);
        }
    }
    return measured;
  } finally {
    await bare.process.stop();
  }
}

/** A measure of a server set beside bare uWebSockets', of rounds that followed one another: the median. */
function partOf({ rounds }: Measured, bare: Measured, part: (round: Round, limit: Round) => number): number {
  return median(rounds.map((round, at) => part(round, bare.rounds[at] as Round)));
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}

function perSecond({ ok, wallS }: Round): number {
  return ok / wallS;
}

interface Parts {
  readonly cpu: number;
  readonly rate: number;
}

function warningsOf({ status, server, rounds, parts }: Compared): string[] {
  const warnings: string[] = [];
  const aim = percent(AIMS[status]);
  if (parts !== undefined && parts.cpu < AIMS[status])
    warnings.push(`With the CPU time of bare uWebSockets the service answers ${percent(parts.cpu)} of its ${status}s (aim: ${aim}).`);
  if (parts !== undefined && parts.rate < AIMS[status])
    warnings.push(`In the same time the service answers ${percent(parts.rate)} of bare uWebSockets' ${status}s (aim: ${aim}).`);
  const broken = sum(rounds.map((round) => round.broken));
  if (broken > 0) warnings.push(`${broken} answers of ${server} were not right: ${rounds.flatMap(({ reasons }) => reasons)[0] ?? ''}`);
  const busy = median(rounds.map(({ serverBusy }) => serverBusy));
  if (busy < BUSY_MIN) warnings.push(`${server} used ${percent(busy)} of its core for ${status}s: its rate is not its limit.`);
  return warnings;
}

/** One server's answers of a status, and the parts that they are of bare uWebSockets'; absent where it is that itself. */
interface Compared extends Measured {
  readonly parts?: Parts;
}

const COLUMNS: readonly Column<Compared>[] = [
  ['answer', ({ status }) => String(status)],
  ['server', ({ server }) => server],
  ...spread<Compared>('CPU µs a request', ({ rounds }) => rounds.map(({ cpuUs }) => cpuUs)),
  ['of bare', ({ parts }) => (parts === undefined ? '' : percent(parts.cpu))],
  ['per s', ({ rounds }) => whole(median(rounds.map(perSecond)))],
  ['of bare per s', ({ parts }) => (parts === undefined ? '' : percent(parts.rate))],
  ['server busy', ({ rounds }) => percent(median(rounds.map(({ serverBusy }) => serverBusy)))],
  ['client busy', ({ rounds }) => percent(median(rounds.map(({ busy }) => busy)))],
  ['broken', ({ rounds }) => String(sum(rounds.map((round) => round.broken)))],
  ['aim', ({ status, parts }) => (parts === undefined ? 'the limit' : `≥ ${percent(AIMS[status])}`)],
];

export function findingOf(measured: readonly Measured[]): Finding {
  const compared = measured.map((each): Compared => {
    const bare = measured.find(({ status, server }) => status === each.status && server === 'bare') as Measured;
    if (each === bare) return each;
    const cpu = partOf(each, bare, (round, limit) => limit.cpuUs / round.cpuUs);
    return { ...each, parts: { cpu, rate: partOf(each, bare, (round, limit) => perSecond(round) / perSecond(limit)) } };
  });
  return { tables: [tableOf(COLUMNS, compared)], warnings: compared.flatMap(warningsOf), data: measured };
}

export const configAnswers: Question = {
  name: 'C1',
  what: 'the configuration of an app, which every client asks for',
  expectedSeconds: ({ quick, rounds }) => (quick ? 12 : 15 + 10 * rounds),
  async measure(scene) {
    const service = await startServer(scene.outDir, { DEMO: 'off' });
    try {
      return findingOf(await measureAll(service, scene));
    } finally {
      await service.stop();
    }
  },
};
