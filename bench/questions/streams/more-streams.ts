/** G4: what an open stream and its deltas cost as more of them are open beside each other. */

import { compileLoad } from '../../load/load.ts';
import { withModel } from '../../model/model.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { digits, median, range, sum } from '../../report/report.ts';
import { service } from '../../servers/service.ts';
import { brokenAmong } from '../../workloads/aims.ts';
import { curveOf, type Growth, growthWarnings, pointOf } from '../growth/growth.ts';
import { type Step, streamsThatFit, type Watched, watchStreams } from './slow-streams.ts';

/** Streams open at each look; a server has two sockets for each, so the limit of open files may cut the last. */
const SIZES = [100, 1_000, 4_000, 10_000] as const;
const QUICK_SIZE_MAX = 1_000;
/** New streams a second: fewer while the service is cold, and a turn takes several times as long. */
const PER_S = 450;
const COLD_PER_S = 250;
const COLD_STREAMS = 1_000;
const LOOK_MS = 2_500;
/** More than the seconds from the first opening to the last look, on a busy machine as well. */
const DELTAS = 150;

/** The steps from each size to the next one. */
export function stepsTo(sizes: readonly number[], lookMs: number): Step[] {
  return sizes.map((size, at) => ({
    streams: size - (sizes[at - 1] ?? 0),
    perSecond: size > COLD_STREAMS ? PER_S : COLD_PER_S,
    lookMs,
  }));
}

const COLUMNS = ['open streams', 'CPU µs a delta', 'range', 'KB a stream', 'range', 'RSS MB'];

interface Size {
  readonly streams: number;
  /** By round. */
  readonly cpuUs: readonly number[];
  readonly rssBytes: readonly number[];
  /** Memory of each stream beyond those of the smallest size; empty for these. */
  readonly kb: readonly number[];
}

function sizesOf(rounds: readonly Watched[]): Size[] {
  return (rounds[0]?.looks ?? []).map(({ streams }, at) => {
    const looks = rounds.flatMap((round) => round.looks.slice(at, at + 1));
    const kb = rounds.flatMap((round) => {
      const [first, look] = [round.looks[0], round.looks[at]];
      if (at === 0 || first === undefined || look === undefined) return [];
      return [(look.rssBytes - first.rssBytes) / 1e3 / (look.streams - first.streams)];
    });
    return { streams, cpuUs: looks.map((look) => look.cpuUsPerDelta), rssBytes: looks.map((look) => look.rssBytes), kb };
  });
}

/** The section of these rounds. */
export function findingOf(rounds: readonly Watched[]): Finding {
  const sizes = sizesOf(rounds);
  const of = 'open streams';
  const cpu: Growth = { cost: 'CPU time of a delta', unit: 'µs', of, points: sizes.map(({ streams, cpuUs }) => pointOf(streams, cpuUs)) };
  const kbPoints = sizes.flatMap(({ streams, kb }) => (kb.length === 0 ? [] : [pointOf(streams, kb)]));
  const memory: Growth = { cost: 'Memory of a stream', unit: 'KB', of, points: kbPoints };
  const broken = sum(rounds.flatMap(({ results }) => results.map((result) => result.broken)));
  const rows = sizes.map(({ streams, cpuUs, kb: each, rssBytes }) => [
    streams.toLocaleString('en-US'),
    digits(median(cpuUs)),
    range(cpuUs),
    each.length === 0 ? '' : digits(median(each)),
    each.length === 0 ? '' : range(each),
    digits(median(rssBytes) / 1e6),
  ]);
  const warnings = [...growthWarnings(cpu), ...growthWarnings(memory), ...brokenAmong('In all', broken)];
  return { tables: [{ columns: COLUMNS, rows }], curves: [curveOf(cpu), curveOf(memory)], warnings, data: { rounds } };
}

async function measure({ onStep, outDir, quick, rounds }: QuestionScene): Promise<Finding> {
  const program = compileLoad(outDir);
  const sizes = SIZES.filter((size) => !quick || size <= QUICK_SIZE_MAX).map((size) => streamsThatFit(size));
  const steps = stepsTo([...new Set(sizes)], LOOK_MS);
  return withModel(outDir, async ({ origin }) => {
    const measured: Watched[] = [];
    for (let round = 0; round < rounds; round++) {
      onStep(`G4: round ${round + 1} of ${rounds}`);
      measured.push(await watchStreams(service, { name: 'G4', steps, deltas: DELTAS, program, upstream: origin, outDir }));
    }
    return findingOf(measured);
  });
}

export const moreStreams: Question = {
  name: 'G4',
  what: 'more and more open streams',
  expectedSeconds: ({ quick, rounds }) => rounds * (quick ? 20 : 50),
  measure,
};
