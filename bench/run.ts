/**
 * The benchmark: runs the workloads against the candidates side by side and writes what it found to `bench/out/`.
 * `node dist/bench/run.js [--only W1,W3] [--peer relay,service] [--rounds 5] [--quick]`; see bench/README.md.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Candidate, relay, type Target } from './candidate.ts';
import { cpuNs, peakRssBytes } from './cpu.ts';
import { compileLoad, load } from './load.ts';
import { CLIENT_CORE, canPin, freePort, pause, type Running, start } from './processes.ts';
import { type Outcome, type Round, table } from './report.ts';
import { service } from './service.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

const CANDIDATES: readonly Candidate[] = [relay, service];
const ROUNDS = 5;
/** `--quick` runs one round of a quarter of the streams: to see that the rig works, not to quote. */
const QUICK_DIVISOR = 4;
/** After the last answer a server still commits and tidies up: that is part of what a turn costs. */
const SETTLE_MS = 200;

/** Even a workload of one client is warmed up by this many, or half a minute would not be enough to compile what is hot. */
const WARM_UP_STREAMS = 32;

interface Plan {
  readonly workloads: readonly Workload[];
  readonly candidates: readonly Candidate[];
  readonly rounds: number;
  readonly divisor: number;
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

function readPlan(): Plan {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, peer: { type: 'string' }, rounds: { type: 'string' }, quick: { type: 'boolean' } },
  });
  const quick = values.quick === true;
  const rounds = values.rounds === undefined ? (quick ? 1 : ROUNDS) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a number from 1');
  return {
    workloads: chosen(WORKLOADS, values.only),
    candidates: chosen(CANDIDATES, values.peer),
    rounds,
    divisor: quick ? QUICK_DIVISOR : 1,
  };
}

/** The folder that holds package.json, wherever the compiled files were put below it. */
function projectDir(): string {
  let dir = import.meta.dirname;
  while (!existsSync(join(dir, 'package.json'))) {
    if (dir === dirname(dir)) throw new Error('package.json not found above the compiled benchmark');
    dir = dirname(dir);
  }
  return dir;
}

async function startUpstream(outDir: string): Promise<{ process: Running; origin: string }> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const process = await start({
    name: 'upstream',
    core: CLIENT_CORE,
    file: join(import.meta.dirname, 'upstream.js'),
    args: ['--port', String(port)],
    env: {},
    logFile: join(outDir, 'upstream.log'),
    readyUrl: `${origin}/healthz`,
  });
  return { process, origin };
}

async function measure(bench: Bench, workload: Workload, target: Target): Promise<Round> {
  const before = cpuNs(target.process.pid);
  const requests = Math.max(workload.streams, Math.ceil(workload.requests / bench.plan.divisor));
  const result = await load(bench.program, bench.outDir, workload, target, requests);
  await pause(SETTLE_MS);
  target.process.check();
  return { ...result, cpu_ns: cpuNs(target.process.pid) - before };
}

async function warmUp(bench: Bench, workload: Workload, candidate: Candidate, target: Target): Promise<void> {
  const streams = Math.max(workload.streams, WARM_UP_STREAMS);
  const requests = Math.max(streams, Math.ceil(workload.warmUp / bench.plan.divisor));
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

async function main(): Promise<void> {
  const plan = readPlan();
  const root = projectDir();
  const outDir = join(root, 'bench/out');
  mkdirSync(outDir, { recursive: true });
  const program = compileLoad(join(root, 'bench/load.c'), outDir);
  const upstream = await startUpstream(outDir);
  const outcomes: Outcome[] = [];
  try {
    for (const workload of plan.workloads) {
      outcomes.push(...(await play({ plan, outDir, program, upstream: upstream.origin }, workload)));
      upstream.process.check();
      const markdown = `${heading(plan)}\n\n${table(outcomes)}\n`;
      // After every workload: a run that is cut short leaves what it found.
      writeFileSync(join(outDir, 'latest.md'), markdown);
      writeFileSync(join(outDir, 'latest.json'), `${JSON.stringify({ heading: heading(plan), outcomes }, undefined, 2)}\n`);
    }
  } finally {
    await upstream.process.stop();
  }
  process.stdout.write(`${heading(plan)}\n\n${table(outcomes)}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
