/** Uploads that no message used in time, and files that a crash left without a row (UPLOAD-9). */
import { readdir } from 'node:fs/promises';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isId, mintId } from '../../protocol/ids.ts';
import { isHere } from '../../storage/organisations/organisations.ts';
import type { Storage } from '../../storage/storage.ts';
import { deleteUploadFiles, sweepUploadFiles } from '../../storage/uploads/upload-files.ts';
import { knownUploads, nextUploadDeadline } from '../../storage/uploads/uploads.ts';
import type { Announcer } from '../announcements.ts';
import type { DeadlineKind } from '../deadlines.ts';
import { forEachOrganisation } from '../for-each-organisation.ts';

/** Deleted in one transaction; the next round follows at once. */
const ROWS_PER_ROUND = 200;

export function uploadDeadlines(storage: Storage, nowMs: () => number): DeadlineKind {
  return {
    next: nextUploadDeadline,
    async settle(organisationId) {
      const now = nowMs();
      const next = nextUploadDeadline(storage.organisation(organisationId));
      if (next === null || next > now) return;
      // Rows first: a message may take an upload as long as it has one. Files that a crash leaves are deleted at a start.
      const uploadIds = await storage.write(organisationId, 'expireUploads', { nowMs: now, limit: ROWS_PER_ROUND });
      await deleteUploadFiles(storage.layout, organisationId, uploadIds);
    },
  };
}

/** Only for organisations whose rows can be read: without them no file can be known to be unused. One without files is not looked at. */
async function sweep(storage: Storage, log: Logger, before: string, signal: AbortSignal): Promise<void> {
  const sweepOne = async (organisationId: string) => {
    const known = (ids: readonly string[]) => knownUploads(storage.organisation(organisationId), ids);
    const swept = await sweepUploadFiles(storage.layout, organisationId, before, known);
    if (swept > 0) log.info({ organisation_id: organisationId, files: swept }, 'deleted upload files that no row names');
  };
  const folders = await readdir(storage.layout.uploads).catch((error: unknown) => {
    log.error({ err: error }, 'listing the folders of uploads failed: files that no row names stay until the next start');
    return [];
  });
  const ids = folders.filter((name) => isId('org', name) && isHere(storage.control, name));
  const options = { ids, isClosed: () => signal.aborted, breathe: nextTick };
  await forEachOrganisation({ storage, log }, 'deleting upload files that no row names', sweepOne, options);
}

/** With several nodes: a row is written right after its file, and no node is stuck for an hour in between. */
const ON_THEIR_WAY_MS = 3_600_000;

/** Deletes files without a row from before `startedAtMs`: newer ones may have one soon. The rest is logged and left to the next start. */
export function startUploadSweep(
  { storage, log, others }: { readonly storage: Storage; readonly log: Logger; readonly others: Announcer },
  startedAtMs: number,
): { readonly done: Promise<void>; close(): Promise<void> } {
  const stop = new AbortController();
  const done = sweep(storage, log, mintId('upl', others.isAlone ? startedAtMs : startedAtMs - ON_THEIR_WAY_MS), stop.signal);
  return {
    done,
    close() {
      stop.abort();
      return done;
    },
  };
}
