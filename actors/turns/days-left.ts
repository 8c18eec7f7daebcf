/**
 * What the last openings left of the day, so that a turn need not read what its transaction counts anyway (LIMIT-14). It says that there is
 * room, never that there is none: that is read.
 */
import { LRUCache } from 'lru-cache';
import type { AppRecord } from '../../storage/apps/apps.ts';
import type { Admission } from '../../storage/billing/usage-ledger.ts';
import type { AnyCommand } from './command.ts';

/** Apps and addresses that sent something within the last second; of one that is forgotten the rows are read. */
const DAYS_KEPT = 1_000;
/** While turns come in numbers the last one tells the next what is left; other nodes' turns show after so long. */
const DAY_KEPT_MS = 1_000;

export class DaysLeft {
  readonly #days = new LRUCache<string, { readonly app: AppRecord; readonly left: number; readonly atMs: number }>({ max: DAYS_KEPT });

  /** `left`: what the opening of `command` left, null where it was not counted; what its app may use otherwise is read each time. */
  opened({ caller }: AnyCommand, admission: Admission | null, left: number | null, atMs: number): void {
    if (admission === null || left === null || caller.channel === 'sandbox' || admission.dailyModelBudgetMicroUsd !== null) return;
    this.#days.set(keyOf(caller, admission), { app: caller.app, left, atMs });
  }

  /** An app whose settings changed since is another record. */
  hasRoom({ caller }: AnyCommand, admission: Admission, nowMs: number): boolean {
    const day = this.#days.get(keyOf(caller, admission));
    return day !== undefined && day.left > 0 && day.app === caller.app && Math.abs(nowMs - day.atMs) < DAY_KEPT_MS;
  }
}

function keyOf({ appId, channel }: AnyCommand['caller'], { sender }: Admission): string {
  return `${appId} ${channel} ${sender?.address ?? ''}`;
}
