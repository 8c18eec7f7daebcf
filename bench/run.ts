/**
 * The benchmark: runs the workloads against the candidates side by side, then the questions that bring a load of their
 * own, and writes what it found to `bench/out/`.
 * `node dist/bench/run.js [--only W1,K1] [--peer relay,service] [--against dist] [--rounds 5] [--seconds 60] [--quick]`; see bench/README.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { agents } from './agents.ts';
import { betweenNodes } from './between-nodes.ts';
import { type Candidate, relay, type Target } from './candidate.ts';
import { cpuNs, peakRssBytes } from './cpu.ts';
import { knowledge } from './knowledge.ts';
import { compileLoad, load, projectDir } from './load.ts';
import { withModel } from './model.ts';
import { openStreams } from './open-streams.ts';
import { CLIENT_CORE, canPin, pause, pinSelf } from './processes.ts';
import type { Finding, Question } from './question.ts';
import { againstEarlier, type Outcome, type Round, table } from './report.ts';
import { earlierService, service } from './service.ts';
import { severalNodes } from './several-nodes.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

const CANDIDATES: readonly Candidate[] = [relay, service];
const QUESTIONS: readonly Question[] = [openStreams, knowledge, agents, betweenNodes, severalNodes];
const ROUNDS = 5;
/** `--quick` runs one round of a quarter of the streams: to see that the rig works, not to quote. */
const QUICK_DIVISOR = 4;
/** After the last answer a server still commits and tidies up: that is part of what a turn costs. */
const SETTLE_MS = 200;

/** Even a workload of one client is warmed up by this many, or half a minute would not be enough to compile what is hot. */
const WARM_UP_STREAMS = 32;

interface Plan {
  readonly workloads: readonly Workload[];
  readonly questions: readonly Question[];
  readonly candidates: readonly Candidate[];
  readonly rounds: number;
  /** How long the questions that last run; undefined: as long as they say. */
  readonly seconds: number | undefined;
  readonly quick: boolean;
}

interface Bench {
  readonly plan: Plan;
  readonly outDir: string;
  readonly program: string;
  readonly upstream: string;
}

/** Those of `all` that a comma-separated option names; all without the option. Throws on a name nobody has. */
function chosen<T extends { readonly name: string }>(all: readonly T[], names: string | undefined): readonly T[] {
  if (names === undefined) return all;
  return names.split(',').map((name) => {
    const found = all.find((item) => item.name === name);
    if (found === undefined) throw new Error(`"${name}" is none of ${all.map((item) => item.name).join(', ')}`);
    return found;
  });
}

/** A whole number from 1 on; undefined without the option. */
function numberOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const value = Number(given);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${option} takes a number from 1`);
  return value;
}

function readPlan(): Plan {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      peer: { type: 'string' },
      against: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean' },
    },
  });
  const quick = values.quick === true;
  const wanted = chosen([...WORKLOADS, ...QUESTIONS], values.only);
  const { against } = values;
  const candidates = [...chosen(CANDIDATES, values.peer), ...(against === undefined ? [] : [earlierService(resolve(against))])];
  return {
    workloads: WORKLOADS.filter((workload) => wanted.includes(workload)),
    // They are asked of the service alone.
    questions: QUESTIONS.filter((question) => wanted.includes(question) && candidates.includes(service)),
    candidates,
    rounds: numberOf('rounds', values.rounds) ?? (quick ? 1 : ROUNDS),
    seconds: numberOf('seconds', values.seconds),
    quick,
  };
}

function scaled({ quick }: Plan, requests: number): number {
  return quick ? Math.ceil(requests / QUICK_DIVISOR) : requests;
}

async function measure(bench: Bench, workload: Workload, target: Target): Promise<Round> {
  const before = cpuNs(target.process.pid);
  const requests = Math.max(workload.streams, scaled(bench.plan, workload.requests));
  const result = await load(bench.program, bench.outDir, workload, target, requests);
  await pause(SETTLE_MS);
  target.process.check();
  return { ...result, cpu_ns: cpuNs(target.process.pid) - before };
}

async function warmUp(bench: Bench, workload: Workload, candidate: Candidate, target: Target): Promise<void> {
  const streams = Math.max(workload.streams, WARM_UP_STREAMS);
  const requests = Math.max(streams, scaled(bench.plan, workload.warmUp));
  const result = await load(bench.program, bench.outDir, { ...workload, streams, gapMs: 0 }, target, requests);
  if (result.ok === 0) throw new Error(`${candidate.name} brought no whole stream of ${workload.name}; its log is in ${bench.outDir}`);
}

/** One workload: every candidate's server side by side, warmed up, then measured in turns. */
async function play(bench: Bench, workload: Workload): Promise<Outcome[]> {
  const { candidates, rounds } = bench.plan;
  const scene = { model: workload.model, upstream: bench.upstream, outDir: bench.outDir };
  const entries: { candidate: Candidate; target: Target; rounds: Round[] }[] = [];
  try {
    for (const candidate of candidates) entries.push({ candidate, target: await candidate.start(scene), rounds: [] });
    for (const { candidate, target } of entries) await warmUp(bench, workload, candidate, target);
    for (let round = 0; round < rounds; round++) {
      // Every other round the other way round: whoever follows finds the same machine.
      for (const entry of round % 2 === 0 ? entries : entries.toReversed()) entry.rounds.push(await measure(bench, workload, entry.target));
      process.stderr.write(`${workload.name}: round ${round + 1} of ${rounds}\n`);
    }
    return entries.map((entry) => ({
      workload,
      candidate: entry.candidate.name,
      rounds: entry.rounds,
      peak_rss_bytes: peakRssBytes(entry.target.process.pid),
    }));
  } finally {
    for (const { target } of entries) await target.stop();
  }
}

function heading(plan: Plan): string {
  const processors = cpus();
  const cores = canPin ? 'server alone on one core' : 'NOT PINNED: figures of different runs do not compare';
  return [
    `# Benchmark, ${new Date().toISOString().slice(0, 10)}`,
    '',
    `${processors.length} cores (${processors[0]?.model ?? 'unknown'}), Linux ${release()}, Node ${process.versions.node}; ${cores}.`,
    `Medians of ${plan.rounds} round${plan.rounds === 1 ? '' : 's'}, interleaved. What the columns mean: bench/README.md.`,
  ].join('\n');
}

/** Writes the report as far as it is: after every part, so that a run that is cut short leaves what it found. */
function write(plan: Plan, outDir: string, outcomes: readonly Outcome[], findings: readonly Finding[]): string {
  const sections = findings.map(({ name, markdown }) => `## ${name}\n\n${markdown}`);
  const report = `${[heading(plan), ...(outcomes.length === 0 ? [] : [table(outcomes), ...againstEarlier(outcomes)]), ...sections].join('\n\n')}\n`;
  const data = { heading: heading(plan), outcomes, findings: findings.map(({ name, data }) => ({ name, data })) };
  writeFileSync(join(outDir, 'latest.md'), report);
  writeFileSync(join(outDir, 'latest.json'), `${JSON.stringify(data, undefined, 2)}\n`);
  return report;
}

/** The workloads of the plan, with the fake model and the load client that they need. */
async function playAll(plan: Plan, outDir: string): Promise<Outcome[]> {
  if (plan.workloads.length === 0) return [];
  const program = compileLoad(outDir);
  const outcomes: Outcome[] = [];
  await withModel(outDir, async (model) => {
    for (const workload of plan.workloads) {
      outcomes.push(...(await play({ plan, outDir, program, upstream: model.origin }, workload)));
      model.process.check();
      write(plan, outDir, outcomes, []);
    }
  });
  return outcomes;
}

async function main(): Promise<void> {
  const plan = readPlan();
  const outDir = join(projectDir(), 'bench/out');
  mkdirSync(outDir, { recursive: true });
  pinSelf(CLIENT_CORE);
  const outcomes = await playAll(plan, outDir);
  const findings: Finding[] = [];
  for (const question of plan.questions) {
    findings.push(await question.measure({ outDir, quick: plan.quick, rounds: plan.rounds, seconds: plan.seconds }));
    write(plan, outDir, outcomes, findings);
  }
  process.stdout.write(write(plan, outDir, outcomes, findings));
}

main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
