/** What a scenario is: a conversation up to the request that somebody reads, and what a good answer to it is. */

import type { Samples } from '../../protocol/catalog/samples/sample.ts';
import { SAMPLES } from '../../protocol/catalog/samples/samples.ts';
import type { Play } from '../../tests/support/upstream.ts';

/** What a client reports of an action that waits for it. */
export interface Reported {
  readonly status: 'ok' | 'error' | 'declined' | 'timeout';
  readonly result?: unknown;
  readonly error?: string;
  readonly confirmed?: true;
}

/** One thing that the person, or the app for them, sends. */
export interface Sent {
  readonly says?: string;
  /** Ids chosen in the last component that takes a choice. */
  readonly chooses?: readonly string[];
  /** Values for the last form. */
  readonly submits?: Readonly<Record<string, unknown>>;
  /** By the name of the action that waits. */
  readonly reports?: Readonly<Record<string, Reported>>;
  /** A picture goes with it. */
  readonly picture?: true;
  /** What the model plays, round by round; without any it says a word. */
  readonly rounds?: readonly (readonly Play[])[];
}

/** How an answer of a real model is judged. */
export interface Wanted {
  /** Right is an answer that calls one of these; none: words alone. Absent: not judged. */
  readonly calls?: readonly string[];
  /** What has to stand in words or calls. */
  readonly says?: RegExp;
  /** What must not. */
  readonly never?: RegExp;
  /** It tries to make the model obey what is data. */
  readonly isInjection?: true;
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly client?: { readonly locale?: string; readonly time_zone?: string; readonly components?: readonly string[] };
  readonly context?: object;
  /** The last one is what is asked; those before are history. */
  readonly sends: readonly Sent[];
  readonly wanted: Wanted;
  /** It asks for no understanding: whoever repeats what is said, found and brought, as the offline model does, answers it rightly. */
  readonly isPlain?: boolean;
}

const samples: Samples = SAMPLES;

/** Good bodies of a component. */
export const samplesOf = (name: string) => Object.values(samples[name] ?? {});
