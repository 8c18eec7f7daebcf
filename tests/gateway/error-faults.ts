/** Faults of what the program stands on, made from outside while it runs. */
import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningService } from '../support/service.ts';

/** A file of the program may grow to so many bytes; undefined: as it likes. The system refuses what is longer (EFBIG). */
export function boundFiles({ pid }: RunningService, maxBytes: number | undefined): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${maxBytes ?? 'unlimited'}:unlimited`]);
}

/** Runs `work` while the folder of an organisation's uploads is a file. */
export async function withoutUploadFolder<Value>(
  { dataDir }: RunningService,
  organisationId: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const folder = join(dataDir, 'uploads', organisationId);
  rmSync(folder, { recursive: true, force: true });
  writeFileSync(folder, '');
  try {
    return await work();
  } finally {
    rmSync(folder);
  }
}

/** Runs `work` while there is no folder for uploads. */
export async function withoutUploads<Value>({ dataDir }: RunningService, work: () => Promise<Value>): Promise<Value> {
  const folder = join(dataDir, 'uploads');
  renameSync(folder, `${folder}-away`);
  try {
    return await work();
  } finally {
    renameSync(`${folder}-away`, folder);
  }
}

/** Takes an organisation's database away for good. */
export function takeAway(dataDir: string, organisationId: string): void {
  for (const name of readdirSync(join(dataDir, 'organisations'))) {
    if (name.startsWith(organisationId)) rmSync(join(dataDir, 'organisations', name));
  }
}
