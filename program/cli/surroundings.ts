/** Where a command runs, and the two errors it may end with. */
import type { ClusterConfig } from '../config-cluster.ts';
import type { ReplicaConfig } from '../config-replica.ts';

/** The part of the configuration that commands use. */
export interface CliConfig {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  readonly operatorToken: string | undefined;
  readonly masterKey: string | undefined;
  /** Undefined: there is no other process. */
  readonly cluster?: Pick<ClusterConfig, 'redisUrl'> | undefined;
  /** Undefined: nothing is replicated. */
  readonly replica?: ReplicaConfig | undefined;
}

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
