/** What a command of `npm run cli -- …` is, and its input. */
import type { ConsoleClient } from './console-client.ts';
import type { Surroundings } from './surroundings.ts';

/** One call of a command. */
export interface Call extends Surroundings {
  readonly args: readonly string[];
  /** The value of an option, undefined when it was not given. */
  option(name: string): string | undefined;
  flag(name: string): boolean;
  /** Prints `value` as one line of JSON with `--json`, the text without. */
  answer(value: unknown, text: string): void;
  /** Talks to the running service. */
  service(): ConsoleClient;
}

export interface CommandOption {
  /** What its value is called in the help, e.g. `<n>`; undefined: it takes none. */
  readonly value?: string;
  readonly does: string;
}

export interface Command {
  readonly name: string;
  /** What follows the name, '' when nothing does. */
  readonly usage: string;
  /** A sentence for the help. */
  readonly does: string;
  /** How many arguments it takes: at least, at most. */
  readonly arity: readonly [number, number];
  readonly options: Readonly<Record<string, CommandOption>>;
  /** @throws CommandFailed, or any Error whose message says what to do. */
  run(call: Call): void | Promise<void>;
}
