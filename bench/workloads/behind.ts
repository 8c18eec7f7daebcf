/** Where the service is behind, in plain sentences: its aims, the peers, streams that broke, and what the questions warn of. Pure. */

import type { Answer } from '../question.ts';
import { summarize } from '../report/report.ts';
import { sum } from '../report/table.ts';
import type { Role } from '../servers/candidate.ts';
import { missed } from './aims.ts';
import { type Comparison, compare, MEASURES, type Measure, shownFigure } from './comparison.ts';
import type { Outcome } from './rounds.ts';

export type Behind = ReturnType<typeof behindOf>;

interface Run {
  readonly candidates: readonly { readonly name: string; readonly role: Role }[];
  readonly outcomes: readonly Outcome[];
  readonly findings: readonly Pick<Answer, 'name' | 'warnings'>[];
}

function namesOf({ candidates }: Run, role: Role): readonly string[] {
  return candidates.filter((candidate) => candidate.role === role).map(({ name }) => name);
}

interface Better {
  readonly name: string;
  readonly comparison: Comparison;
}

function clauseOf(measure: Measure, better: readonly Better[], { workload }: Outcome): string {
  const sorted = better.toSorted((one, next) => one.comparison.one - next.comparison.one);
  const peers = sorted.map(({ name, comparison }) => `${name} ${shownFigure(measure, comparison.one, workload)}`);
  const own = shownFigure(measure, sorted[0]?.comparison.other ?? Number.NaN, workload);
  return `${measure.name} ${own}, ${measure.less}: ${peers.join(', ')}`;
}

/** Where the peers of a workload are better than the service; none where they are not. */
function peersAhead(service: Outcome, peers: readonly Outcome[]): string[] {
  const all = peers.flatMap((peer) =>
    compare(peer, service).flatMap((comparison) => (comparison.verdict === 'less' ? [{ name: peer.candidate, comparison }] : [])),
  );
  const clauses = MEASURES.flatMap((measure) => {
    const better = all.filter(({ comparison }) => comparison.measure === measure);
    return better.length === 0 ? [] : [clauseOf(measure, better, service)];
  });
  return clauses.length === 0 ? [] : [`${service.workload.name}, ${service.candidate}: ${clauses.join('; ')}.`];
}

function brokenOf({ workload, candidate, rounds }: Outcome): string[] {
  const broken = sum(rounds.map((round) => round.broken));
  if (broken === 0) return [];
  const [reason] = rounds.flatMap(({ reasons }) => reasons);
  const streams = sum(rounds.map((round) => round.streams));
  const why = reason === undefined ? '' : `, the first for this: ${reason}`;
  return [`${workload.name}, ${candidate}: ${broken} of ${streams.toLocaleString('en-US')} streams broke${why}.`];
}

/** Finds where the service is behind. A run of too few rounds says nothing about peers. */
export function behindOf(run: Run) {
  const { outcomes, findings } = run;
  const summaries = summarize(outcomes);
  const ours = namesOf(run, 'service');
  const peers = namesOf(run, 'peer');
  return {
    aims: outcomes.flatMap(({ workload, candidate }, at) => {
      const summary = summaries[at];
      return summary !== undefined && ours.includes(candidate) ? missed(workload.aims, summary) : [];
    }),
    warnings: findings.flatMap(({ name, warnings = [] }) => warnings.map((warning) => `${name}: ${warning}`)),
    peers: outcomes
      .filter(({ candidate }) => ours.includes(candidate))
      .flatMap((service) => {
        const others = outcomes.filter(({ workload, candidate }) => workload.name === service.workload.name && peers.includes(candidate));
        return peersAhead(service, others);
      }),
    broken: outcomes.flatMap(brokenOf),
  };
}
