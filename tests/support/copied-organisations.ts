/**
 * Makes empty organisations in a data directory, quickly: one file is made as the service makes it, the others are copies of it under ids
 * of their own; the rows of the control file are written by the service's storage. To be called while nothing has the directory open.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { mintId } from '../../protocol/ids.ts';
import { openOrganisationFile } from '../../storage/organisations/organisation-file.ts';
import { openStorage, type Storage } from '../../storage/storage.ts';

/** Writes that wait together share a commit; more of them only take memory. */
const AT_A_TIME = 500;

/** The bytes of an empty organisation's file, and whose they are. */
interface Original {
  readonly id: string;
  readonly bytes: Buffer;
  /** Where the id stands. */
  readonly at: readonly number[];
}

function placesOf(bytes: Buffer, id: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + id.length)) places.push(at);
  return places;
}

function makeOriginal(storage: Storage): Original {
  const id = mintId('org', Date.now());
  const path = storage.layout.organisation(id);
  openOrganisationFile(path, id, false);
  const bytes = readFileSync(path);
  return { id, bytes, at: placesOf(bytes, id) };
}

/** An id takes as much room as another, so the file holds whichever is written over it. */
function writeCopy(storage: Storage, { bytes, at }: Original, id: string): void {
  for (const place of at) bytes.write(id, place, 'latin1');
  writeFileSync(storage.layout.organisation(id), bytes, { mode: 0o600 });
}

async function enter(storage: Storage, id: string): Promise<void> {
  const nowMs = Date.now();
  await storage.writeControl('createOrganisation', {
    id,
    name: 'Bench',
    plan: 'scale',
    members: [],
    autoTopUp: { enabled: false, amount_usd: 50 },
    nowMs,
  });
  await storage.writeControl('noteOrganisationFile', { organisationId: id, nowMs });
}

/** Makes so many organisations; their ids in the order in which they were made. */
export async function makeOrganisations(dataDir: string, count: number): Promise<readonly string[]> {
  const onFatal = (error: Error): void => {
    throw error;
  };
  const storage = openStorage({ dataDir, masterKey: undefined, onFatal });
  try {
    const original = makeOriginal(storage);
    const ids = [original.id, ...Array.from({ length: count - 1 }, () => mintId('org', Date.now()))];
    for (const id of ids.slice(1)) writeCopy(storage, original, id);
    for (let at = 0; at < ids.length; at += AT_A_TIME) await Promise.all(ids.slice(at, at + AT_A_TIME).map((id) => enter(storage, id)));
    return ids;
  } finally {
    await storage.close();
  }
}
