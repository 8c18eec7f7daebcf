/** The app that a configuration write goes to, and where the write comes from. */
import type { Origin } from '../../protocol/setup/writes.ts';
import type { AppRef } from '../caller.ts';

export interface WriteTarget extends AppRef {
  readonly origin: Origin;
}
