/** Opens and closes the condition `replica_behind` of this process by what the keeper of the replica tells. */
import type { DataLayout } from '../data-layout.ts';
import type { Conditions } from '../health/conditions.ts';
import { type ReplicaStatus, readReplicaStatus } from './replica-status.ts';

export interface ReplicaWatch {
  status(): ReplicaStatus | undefined;
  close(): void;
}

interface WatchOptions {
  readonly storage: { readonly layout: DataLayout; readonly conditions: Conditions };
  readonly lagMaxS: number;
  nowMs(): number;
}

const LOOK_MS = 1_000;

function complaintOf(status: ReplicaStatus | undefined, lagMaxS: number, watchedS: number): string | undefined {
  if (status === undefined)
    return watchedS > lagMaxS ? 'nobody keeps the replica: see the log of the process that started the service' : undefined;
  const lagS = Math.max(status.lag_max_s, status.files_lag_s);
  if (lagS <= lagMaxS) return undefined;
  const file = status.lag_max_s >= status.files_lag_s ? (status.worst[0]?.file ?? 'the databases') : 'files beside the databases';
  return `the replica is ${Math.round(lagS)} s behind, first of all ${file}; ${status.problem ?? 'look at Litestream and its destination'}`;
}

/** Looks every second, so that the log says when the replica falls behind whether or not anybody asks. */
export function watchReplica({ storage: { layout, conditions }, lagMaxS, nowMs }: WatchOptions): ReplicaWatch {
  const startedAtMs = nowMs();
  let known: ReplicaStatus | undefined;
  const look = () => {
    known = readReplicaStatus(layout, nowMs());
    const complaint = complaintOf(known, lagMaxS, (nowMs() - startedAtMs) / 1_000);
    if (complaint === undefined) conditions.close('replica_behind');
    else conditions.open('replica_behind', complaint);
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return { status: () => known, close: () => clearInterval(timer) };
}
