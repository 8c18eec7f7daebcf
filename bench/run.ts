/**
 * The benchmark: runs the workloads against the candidates side by side, then the questions that bring a load of their
 * own, and writes what it found to `bench/out/`.
 * `node dist/bench/run.js [quick|short] [--only W1,H1] [--peer relay,service] [--against dist] [--rounds 5]`; `--help` and bench/README.md say the rest.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Arguments, asksForHelp, commandOf, helpText, readArguments, UsageError } from './arguments.ts';
import { projectDir } from './load/compile.ts';
import { compileLoad } from './load/load.ts';
import { syncDelayUs } from './meters/slow-disk.ts';
import { withModel } from './model/model.ts';
import { Progress } from './progress.ts';
import type { Finding, Question, QuestionScene } from './question.ts';
import { configAnswers } from './questions/config/config-answers.ts';
import { coldTurns } from './questions/cost/cold-turns.ts';
import { turnCost } from './questions/cost/turn-cost.ts';
import { idleConversations } from './questions/growth/idle-conversations.ts';
import { betweenNodes } from './questions/nodes/hand-over.ts';
import { severalNodes } from './questions/nodes/several-nodes.ts';
import { openStreams } from './questions/streams/open-streams.ts';
import { turns } from './questions/turns/turns.ts';
import { writePages } from './report/readme.ts';
import { emptyRun, type Measured, sourceCommit } from './report/report-data.ts';
import { writeAgain, writeResults } from './report/results.ts';
import { type Candidate, relay } from './servers/candidate.ts';
import { type Peer, peers } from './servers/peers.ts';
import { CLIENT_CORE, pinSelf } from './servers/processes.ts';
import { earlierService, programOf, replicatedService, service, serviceWithAll } from './servers/service.ts';
import { expectedSeconds, type LeftOut, play, reasonOf, type Stage } from './workloads/rounds.ts';
import { WORKLOADS, type Workload } from './workloads/workloads.ts';

const OURS: readonly Candidate[] = [relay, service, serviceWithAll, replicatedService];
const QUESTIONS: readonly Question[] = [
  coldTurns,
  ...turns,
  turnCost,
  openStreams,
  configAnswers,
  idleConversations,
  betweenNodes,
  severalNodes,
];
const EXIT_USAGE = 2;
/** Whoever ends a run ends its servers with it: those that are held still would hear of nothing else. */
const ENDS = { SIGINT: 130, SIGTERM: 143 } as const;

function earlierOf(dist: string | undefined): Candidate[] {
  if (dist === undefined) return [];
  const file = programOf(resolve(dist));
  if (file === undefined)
    throw new UsageError(`--against: ${dist} holds no build of the service: name the folder that its compiler wrote, as ../before/dist`);
  return [earlierService(file)];
}

/** @throws UsageError where the arguments leave nothing to measure: the report of the last run must not be lost to it. */
function refuseNothing(
  { parts, against, servers, quick }: Arguments,
  workloads: readonly Workload[],
  questions: readonly Question[],
): void {
  if (against !== undefined && !servers.includes(service.name))
    throw new UsageError(`--against compares with the service: name it too, as --peer ${[service.name, ...servers].join(',')}`);
  if (workloads.length + questions.length > 0) return;
  const why = quick ? 'a quick run asks it only with --only' : `${parts.join(', ')} asks the service: add it to --peer`;
  throw new UsageError(`there is nothing to measure: ${why}`);
}

function installed(wanted: readonly Peer[], leftOut: LeftOut[]): Peer[] {
  return wanted.filter((peer) => {
    try {
      peer.install();
      return true;
    } catch (error) {
      leftOut.push({ candidate: peer.name, why: reasonOf(error) });
      process.stderr.write(`${peer.name} is left out: ${reasonOf(error)}\n`);
      return false;
    }
  });
}

async function playWorkloads(
  workloads: readonly Workload[],
  results: Measured,
  progress: Progress,
  { candidates, rounds, quick, outDir }: Omit<QuestionScene, 'onStep'>,
): Promise<void> {
  if (workloads.length === 0) return;
  const program = compileLoad(outDir);
  await withModel(outDir, async (model) => {
    const onStep = (step: string): void => progress.step(step);
    const stage: Stage = { candidates, rounds, quick, program, upstream: model.origin, outDir, onStep };
    for (const workload of workloads) {
      progress.begin();
      const { outcomes, leftOut } = await play(stage, workload);
      model.process.check();
      results.outcomes.push(...outcomes);
      results.left_out.push(...leftOut);
      writeResults(results, outDir);
    }
  });
}

/** Questions take their time: a quick run asks those that were named. */
function questionsOf({ parts, quick, named }: Arguments, candidates: readonly Candidate[]): readonly Question[] {
  if (quick && !named) return [];
  const isService = (candidate: Candidate): boolean => candidate === service;
  return QUESTIONS.filter(({ name, asks = isService }) => parts.includes(name) && candidates.some(asks));
}

/** The answer to a question. One that cannot be had is told in the report, and the others are asked all the same. */
async function answerOf(question: Question, scene: QuestionScene): Promise<Finding> {
  try {
    return await question.measure(scene);
  } catch (error) {
    const why = reasonOf(error);
    process.stderr.write(`${question.name} has no answer: ${why}\n`);
    process.exitCode = 1;
    return { tables: [], warnings: [`There is no answer: ${why}`], data: null };
  }
}

async function main(): Promise<void> {
  for (const [signal, code] of Object.entries(ENDS)) process.once(signal, () => process.exit(code));
  const argv = process.argv.slice(2);
  const instead = commandOf(argv);
  if (instead !== undefined) {
    const { command, file = '' } = instead;
    const written = command === 'readme' ? writePages(instead.file) : join(writeAgain(resolve(file)), 'report.html');
    process.stdout.write(`Written: ${written}\n`);
    return;
  }
  const known = peers();
  const choices = { parts: [...WORKLOADS, ...QUESTIONS], servers: [...OURS, ...known] };
  if (asksForHelp(argv)) {
    process.stdout.write(helpText(choices));
    return;
  }
  const args = readArguments(argv, {
    parts: choices.parts.map(({ name }) => name),
    servers: choices.servers.map(({ name }) => name),
    peers: known.map(({ name }) => name),
    apart: [replicatedService.name],
  });
  const delayUs = syncDelayUs(process.env);
  const earlier = earlierOf(args.against);
  const outDir = join(projectDir(), 'bench/out');
  mkdirSync(outDir, { recursive: true });
  pinSelf(CLIENT_CORE);
  const leftOut: LeftOut[] = [];
  const named = <T extends Candidate>(all: readonly T[]): readonly T[] => all.filter(({ name }) => args.servers.includes(name));
  const ours = named(OURS);
  // The two builds follow one another in every round.
  const next = ours.indexOf(service) + 1;
  const candidates = [...ours.slice(0, next), ...earlier, ...ours.slice(next), ...installed(named(known), leftOut)];
  if (candidates.length === 0) throw new Error('there is no server left to measure: see above why');
  const { rounds, quick } = args;
  const results = emptyRun(candidates, { commit: sourceCommit(), rounds, quick, sync_delay_us: delayUs, left_out: leftOut });
  const workloads = WORKLOADS.filter(({ name }) => args.parts.includes(name));
  const questions = questionsOf(args, candidates);
  refuseNothing(args, workloads, questions);
  const progress = new Progress([
    ...workloads.map((workload) => expectedSeconds(workload, { candidates, rounds, quick })),
    ...questions.map((question) => question.expectedSeconds({ candidates, rounds, quick })),
  ]);
  await playWorkloads(workloads, results, progress, { candidates, rounds, quick, outDir });
  for (const question of questions) {
    progress.begin();
    const onStep = (step: string): void => progress.step(step);
    const scene = { outDir, quick, rounds, candidates, onStep };
    const answer = await answerOf(question, scene);
    results.findings.push({ name: question.name, what: question.what, ...answer });
    results.left_out.push(...(answer.leftOut ?? []));
    writeResults(results, outDir);
  }
  process.stdout.write(`${writeResults(results, outDir)}\nReport: ${join(outDir, 'report.html')}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof UsageError ? EXIT_USAGE : 1);
});
