/** A measurement that is no workload of the load client: it brings its own load and its own table. */

import type { Table } from './report/table.ts';
import type { Candidate } from './servers/candidate.ts';
import type { LeftOut } from './workloads/rounds.ts';

export interface QuestionScene {
  /** Exists; logs go here. */
  readonly outDir: string;
  readonly quick: boolean;
  readonly rounds: number;
  /** Servers of the run: for questions that every server can answer. */
  readonly candidates: readonly Candidate[];
  /** Is told before each step what it is; whoever listens adds the time left. */
  readonly onStep: (step: string) => void;
}

export type Extent = Pick<QuestionScene, 'quick' | 'rounds' | 'candidates'>;

/** A measured point; `low` and `high` are its smallest and largest round. */
export interface Point {
  readonly x: number;
  readonly y: number;
  readonly low?: number;
  readonly high?: number;
}

/** What something costs as something else grows: every point measured. */
export interface Curve {
  readonly title: string;
  /** Labels of the axes, units included. */
  readonly x: string;
  readonly y: string;
  /** Whether `x` grows by powers. */
  readonly logX?: boolean;
  readonly lines: readonly { readonly name: string; readonly points: readonly Point[] }[];
}

/** A section of the report. */
export interface Finding {
  readonly tables: readonly Table[];
  readonly curves?: readonly Curve[];
  /** What misses its aim or grows faster than it should, a sentence each. */
  readonly warnings?: readonly string[];
  /** What the tables were made of, for `report.json`. */
  readonly data: unknown;
  readonly leftOut?: readonly LeftOut[];
}

export type Answer = Finding & Pick<Question, 'name' | 'what'>;

export interface Question {
  readonly name: string;
  /** What it asks, in a few words: the heading of its section. */
  readonly what: string;
  /** Which servers of the run it is asked of; without one, it needs `service` among them. */
  readonly asks?: (candidate: Candidate) => boolean;
  /** About how long it takes on an otherwise idle machine: the time left is told by it. */
  expectedSeconds(extent: Extent): number;
  measure(scene: QuestionScene): Promise<Finding>;
}
