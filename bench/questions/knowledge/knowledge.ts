/**
 * K1: what a search in an app's knowledge takes as the knowledge grows, and what it takes to index the longest text that
 * the service accepts. The searches run in a program of their own (`search.ts`), the text goes through the running service.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { textSource } from '../../model/text.ts';
import type { Curve, Finding, Question, QuestionScene } from '../../question.ts';
import { digits, median, range } from '../../report/report.ts';
import { pinned, SERVER_CORE } from '../../servers/processes.ts';
import { type Console, createApp, createOrganisation, startServer } from '../../servers/service.ts';
import { pointOf } from '../growth/growth.ts';
import type { SearchResult } from './search.ts';

/** What the p99 aims at, by the chunks of the app. */
const SIZES = [
  { chunks: 100, targetMs: undefined },
  { chunks: 1_000, targetMs: 1 },
  { chunks: 10_000, targetMs: 10 },
  { chunks: 100_000, targetMs: 60 },
] as const;
/** Filling the largest file takes longer than a look at the rig may. */
const QUICK_CHUNKS_MAX = 10_000;
/** The 99th percentile of a round is its tenth slowest question. */
const QUESTIONS = 1_000;

/** The most that one item of POST knowledge may hold. */
const TEXT_CHARS = 200_000;
const TEXT_TARGET_MS = 2_000;
const TEXT_SEED = 3;

const run = promisify(execFile);

async function search(chunks: number, rounds: number): Promise<SearchResult> {
  const options = { chunks, questions: QUESTIONS, rounds };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const [command, ...rest] = pinned(SERVER_CORE, [process.execPath, join(import.meta.dirname, 'search.js'), ...args]);
  const { stdout } = await run(command, rest);
  return JSON.parse(stdout) as SearchResult;
}

interface KnowledgeReply {
  readonly results: readonly { readonly ok: boolean; readonly chunks?: number }[];
}

/** Milliseconds from sending a new text until the answer that it is indexed. */
async function indexText(operator: Console, appId: string, key: string, title: string, text: string): Promise<number> {
  const startedMs = performance.now();
  const item = { external_key: key, kind: 'text', title, content: text };
  const { results } = (await operator.call('POST', `/apps/${appId}/knowledge`, { items: [item] })) as KnowledgeReply;
  const tookMs = performance.now() - startedMs;
  if (results[0]?.ok !== true || (results[0].chunks ?? 0) === 0) throw new Error(`a text was not indexed: ${JSON.stringify(results)}`);
  return tookMs;
}

async function indexTexts({ outDir, rounds }: QuestionScene): Promise<number[]> {
  const server = await startServer(outDir, {});
  try {
    const { appId } = await createApp(server.operator, await createOrganisation(server.operator));
    const source = textSource(TEXT_SEED);
    const times: number[] = [];
    // The first is the warm-up.
    for (let round = 0; round <= rounds; round++) {
      const { title, text } = source.document(TEXT_CHARS);
      times.push(await indexText(server.operator, appId, `text-${round}`, title, text));
    }
    return times.slice(1);
  } finally {
    await server.stop();
  }
}

const COLUMNS = [
  'chunks',
  'file MB',
  'filled in s',
  'questions',
  'answered',
  'p50 ms',
  'p99 ms',
  'range of p99',
  'slowest ms',
  'target p99 ms',
];

function rowOf(result: SearchResult, targetMs: number | undefined): string[] {
  const p99 = p99Of(result);
  return [
    result.chunks.toLocaleString('en-US'),
    digits(result.file_bytes / 1e6),
    digits(result.fill_s),
    result.questions.toLocaleString('en-US'),
    `${Math.round(result.answered * 100)} %`,
    digits(median(result.rounds.map((round) => round.p50_ms))),
    digits(median(p99)),
    range(p99),
    digits(median(result.rounds.map((round) => round.max_ms))),
    targetMs === undefined ? '' : `≤ ${targetMs}`,
  ];
}

function p99Of({ rounds }: SearchResult): number[] {
  return rounds.map(({ p99_ms }) => p99_ms);
}

/** p50 and p99 by the chunks. */
function curveOf(searches: readonly SearchResult[]): Curve {
  const p50 = searches.map(({ chunks, rounds }) =>
    pointOf(
      chunks,
      rounds.map(({ p50_ms }) => p50_ms),
    ),
  );
  const p99 = searches.map((result) => pointOf(result.chunks, p99Of(result)));
  const lines = [
    { name: 'p50', points: p50 },
    { name: 'p99', points: p99 },
  ];
  return { title: 'A search by the chunks of the app', x: 'chunks', y: 'time of a search, ms', logX: true, lines };
}

/** What misses its target, a sentence each. */
function warningsOf(searches: readonly SearchResult[], indexed: readonly number[]): string[] {
  const slow = searches.flatMap((result) => {
    const { targetMs } = SIZES.find(({ chunks }) => chunks === result.chunks) ?? {};
    const p99Ms = median(p99Of(result));
    if (targetMs === undefined || p99Ms <= targetMs) return [];
    return [`A search in ${result.chunks.toLocaleString('en-US')} chunks takes ${digits(p99Ms)} ms at p99; it aims at ${targetMs} ms.`];
  });
  const textMs = median(indexed);
  if (textMs <= TEXT_TARGET_MS) return slow;
  return [...slow, `To index the longest text takes ${digits(textMs)} ms; it aims at ${TEXT_TARGET_MS} ms.`];
}

async function measure(scene: QuestionScene): Promise<Finding> {
  const rows: string[][] = [];
  const searches: SearchResult[] = [];
  for (const { chunks, targetMs } of SIZES) {
    if (scene.quick && chunks > QUICK_CHUNKS_MAX) continue;
    scene.onStep(`K1: ${chunks} chunks`);
    const result = await search(chunks, scene.rounds);
    searches.push(result);
    rows.push(rowOf(result, targetMs));
  }
  scene.onStep('K1: long texts');
  const indexed = await indexTexts(scene);
  const text = [TEXT_CHARS.toLocaleString('en-US'), digits(median(indexed)), range(indexed), `≤ ${TEXT_TARGET_MS.toLocaleString('en-US')}`];
  const tables = [
    { columns: COLUMNS, rows },
    { columns: ['characters indexed', 'ms', 'range', 'target ms'], rows: [text] },
  ];
  return { tables, curves: [curveOf(searches)], warnings: warningsOf(searches, indexed), data: { searches, indexed_ms: indexed } };
}

export const knowledge: Question = {
  name: 'K1',
  what: 'search in knowledge as it grows',
  // The largest file is most of it: it is filled once, and asked in every round.
  expectedSeconds: ({ quick, rounds }) => (quick ? 15 : 90 + 20 * rounds),
  measure,
};
