/** What a command of `npm run cli -- …` is, what it is given, and the two ways in which it says no. */
import type { ConsoleClient } from './console-client.ts';

/** What of the configuration commands use. */
export interface CliConfig {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  readonly operatorToken: string | undefined;
  readonly masterKey: string | undefined;
}

/** Where a command reads from and prints to; tests put their own in its place. */
export interface Surroundings {
  /** Read when a command asks for it: `help` works whatever the environment holds. @throws Error naming a bad variable. */
  config(): CliConfig;
  /** A line, or lines, on standard output. */
  print(text: string): void;
  /** The same on standard error: what is no part of the answer. */
  note(text: string): void;
  nowMs(): number;
  pause(ms: number): Promise<void>;
}

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

/** The command could not be done: exit code 1, and `message` is the line that says what to do. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** The command line makes no sense: exit code 2. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}
