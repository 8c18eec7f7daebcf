/** Where a write goes, and who writes it: what all that takes something in is told beside the thing itself. */
import type { Origin } from '../../protocol/setup/writes.ts';
import type { AppRef } from '../caller.ts';

export interface IntakeTarget extends AppRef {
  readonly origin: Origin;
}
