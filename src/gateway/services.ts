/** What routes may use; put together once in main.ts. */
import type { Logger } from 'pino';
import type { ActorSystem } from '../actors/system.ts';
import type { Config } from '../config.ts';
import type { Storage } from '../storage/storage.ts';

export interface Services {
  readonly config: Config;
  readonly storage: Storage;
  readonly actors: ActorSystem;
  readonly log: Logger;
  nowMs(): number;
  /** True once SIGTERM was received: `/readyz` says so and no new stream is opened. */
  draining(): boolean;
}
