/** A measurement that is no workload of the load client: it brings its own load and its own table. */

import type { Candidate } from './candidate.ts';
import type { LeftOut } from './rounds.ts';

export interface QuestionScene {
  /** Exists; logs go here. */
  readonly outDir: string;
  /** A run that only shows that the rig works. */
  readonly quick: boolean;
  readonly rounds: number;
  /** Servers of the run: for questions that every server can answer. */
  readonly candidates: readonly Candidate[];
  /** How long a load of its own lasts, for questions that have one; undefined: as long as the question says. */
  readonly seconds: number | undefined;
}

/** A section of the report. */
export interface Finding {
  readonly name: string;
  readonly markdown: string;
  /** What the tables were made of, for `report.json`. */
  readonly data: unknown;
  /** Servers that could not be asked. */
  readonly leftOut?: readonly LeftOut[];
}

export interface Question {
  readonly name: string;
  /** Whether it is asked of every server of the run; the others are about the service alone. */
  readonly ofEveryServer?: boolean;
  measure(scene: QuestionScene): Promise<Finding>;
}
