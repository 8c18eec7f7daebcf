/** A measurement that is no workload of the load client: it brings its own load and its own table. */

export interface QuestionScene {
  /** Exists; logs go here. */
  readonly outDir: string;
  /** A run that only shows that the rig works. */
  readonly quick: boolean;
  readonly rounds: number;
  /** How long a load of its own lasts, for questions that have one; undefined: as long as the question says. */
  readonly seconds: number | undefined;
}

/** A section of the report. */
export interface Finding {
  readonly name: string;
  readonly markdown: string;
  /** What the tables were made of, for `latest.json`. */
  readonly data: unknown;
}

export interface Question {
  readonly name: string;
  measure(scene: QuestionScene): Promise<Finding>;
}
