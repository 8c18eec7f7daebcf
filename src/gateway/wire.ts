/** Rows that both the setup interface and the console answer with, as they travel. */
import { timestamp } from '../protocol/timestamp.ts';
import type { SmokeRun } from '../storage/smoke-runs.ts';

/** A run as POST and GET /smoke answer it (service.md "Smoke run"). */
export function smokeRunToWire({ id, passed, platformFailure, answers, createdAtMs }: SmokeRun) {
  return { id, passed, createdAt: timestamp(createdAtMs), platformFailure, results: answers };
}
