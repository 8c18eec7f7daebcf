/** Reciprocal rank fusion: makes one ranking of several whose scores cannot be compared. */

/**
 * Dampens the weight of the first ranks. The standard value, from Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms
 * Condorcet and individual Rank Learning Methods", SIGIR 2009.
 */
const K = 60;

export interface Fused {
  readonly id: number;
  /** The sum of 1 / (60 + rank) over the rankings that hold it, ranks from 1. */
  readonly score: number;
}

/** All ids of `rankings` (each best first, without repetition), best first. Ties go to the id that an earlier ranking names first. */
export function fuseRankings(rankings: readonly (readonly number[])[]): Fused[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [index, id] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (K + index + 1));
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((one, other) => other.score - one.score);
}
