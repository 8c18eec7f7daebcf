/** What a command of `npm run cli -- …` is, its input, where it runs, and the two errors it may end with. */
import type * as v from 'valibot';
import type { ProgressLog } from '../../storage/backup/backup.ts';
import type { ClusterConfig, Config, Setting } from '../config.ts';

/** The part of the configuration that commands use. */
export type CliConfig = Pick<Config, 'host' | 'port' | 'publicUrl' | 'dataDir' | 'operatorToken' | 'masterKey'> & {
  readonly cluster?: Pick<ClusterConfig, 'redisUrl'> | undefined;
  readonly replica?: Config['replica'];
};

/** What a look at one part of the configuration and its surroundings found. */
export interface Finding {
  /** What was looked at, such as `disk`. */
  readonly about: string;
  /** Whether a person should change something. */
  readonly isRemark: boolean;
  /** What was found and, for a remark, what to change. */
  readonly says: string;
}

/** Where a command reads from and prints to; tests put their own in its place. */
export interface Surroundings {
  /** Read when a command asks for it: `help` works whatever the environment holds. `also`: variables that the command line gave. @throws Error naming a bad variable. */
  config(also?: Readonly<Record<string, string>>): CliConfig;
  /** Each variable and where its value came from. @throws Error naming a bad variable. */
  settings(): readonly Setting[];
  /** Holds the configuration against the world. @throws Error naming a bad variable. */
  examine(): Promise<readonly Finding[]>;
  /** A line, or lines, on standard output. */
  print(text: string): void;
  /** The same on standard error, for what is not part of the answer. */
  note(text: string): void;
  nowMs(): number;
  pause(ms: number): Promise<void>;
}

/** The command could not be done: exit code 1, and `message` is the line that says what to do. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** The command line makes no sense: exit code 2. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/** Speaks to the running service. */
export interface ConsoleClient {
  readonly baseUrl: string;
  /**
   * A request to `/console/api` + path; the answer as the schema gives it.
   * @throws Unreachable; CommandFailed with what the service said.
   */
  ask<Schema extends v.GenericSchema>(method: 'GET' | 'POST', path: string, schema: Schema, body?: object): Promise<v.InferOutput<Schema>>;
}

export interface Call extends Surroundings {
  readonly args: readonly string[];
  /** The value of an option, undefined when it was not given. */
  option(name: string): string | undefined;
  flag(name: string): boolean;
  /** Prints `value` as one line of JSON with `--json`, the text without. */
  answer(value: unknown, text: string): void;
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
  readonly does: string;
  /** How many arguments it takes: at least, at most. */
  readonly arity: readonly [number, number];
  readonly options: Readonly<Record<string, CommandOption>>;
  /** @throws CommandFailed, or any Error whose message says what to do. */
  run(call: Call): void | Promise<void>;
}

/** Progress messages on standard error. */
export function progress({ note }: Call): ProgressLog {
  const told = (facts: object, text: string) => {
    const details = Object.entries(facts).map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : value}`);
    note(details.length === 0 ? text : `${text} (${details.join('; ')})`);
  };
  return { info: told, warn: (facts, text) => told(facts, `Warning: ${text}`) };
}

/** A report as `--json` prints it: its names as they are on the wire. */
export function wireReport(report: object): object {
  const named = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(report).map(([name, value]) => [named(name), value]));
}
