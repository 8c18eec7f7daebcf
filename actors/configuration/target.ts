/** Where a write goes, and who writes it: what all that takes something in is told beside the thing itself. */
import type { Origin } from '../../protocol/setup/writes.ts';

export interface IntakeTarget {
  readonly organisationId: string;
  readonly appId: string;
  readonly origin: Origin;
}
