/** Where a command runs, and the two errors it may end with. */
import type { ClusterConfig, Config } from '../config.ts';

/** The part of the configuration that commands use. */
export type CliConfig = Pick<Config, 'host' | 'port' | 'publicUrl' | 'dataDir' | 'operatorToken' | 'masterKey'> & {
  readonly cluster?: Pick<ClusterConfig, 'redisUrl'> | undefined;
  readonly replica?: Config['replica'];
};

/** Where a command reads from and prints to; tests put their own in its place. */
export interface Surroundings {
  /** Read when a command asks for it: `help` works whatever the environment holds. `also`: variables that the command line gave. @throws Error naming a bad variable. */
  config(also?: Readonly<Record<string, string>>): CliConfig;
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
