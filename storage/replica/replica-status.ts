/**
 * How far the replica is, as the one process that keeps it tells every process of the data directory: a small file, replaced as a whole.
 * Processes may come and go without asking each other.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { type DataLayout, replaceFile } from '../data-layout.ts';

const seconds = v.pipe(v.number(), v.finite(), v.minValue(0));

const statusSchema = v.object({
  /** When it was written, by the keeper's clock. */
  at_ms: v.number(),
  files: v.number(),
  /** How far behind the one is that is furthest behind; also counts while Litestream does not run. */
  lag_max_s: seconds,
  /** The databases that are furthest behind, the worst first; by file name. */
  worst: v.array(v.object({ file: v.string(), lag_s: seconds })),
  files_lag_s: seconds,
  problem: v.nullable(v.string()),
  starts: v.number(),
});

export type ReplicaStatus = v.InferOutput<typeof statusSchema>;

/** A keeper writes every second or two; one that has not for this long is gone or hangs. */
const STALE_MS = 30_000;

function pathOf({ replica }: DataLayout): string {
  return join(replica, 'status.json');
}

export function writeReplicaStatus(layout: DataLayout, status: ReplicaStatus): void {
  replaceFile(pathOf(layout), JSON.stringify(status));
}

/** Undefined while no keeper has written one, or what lies there is none. A keeper that fell silent counts as a lag that grows. */
export function readReplicaStatus(layout: DataLayout, nowMs: number): ReplicaStatus | undefined {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(pathOf(layout), 'utf8'));
  } catch {
    return undefined;
  }
  const checked = v.safeParse(statusSchema, read);
  if (!checked.success) return undefined;
  const status = checked.output;
  const silentMs = nowMs - status.at_ms;
  if (silentMs < STALE_MS) return status;
  const lagS = status.lag_max_s + silentMs / 1_000;
  return { ...status, lag_max_s: lagS, problem: 'the process that keeps the replica does not answer' };
}
