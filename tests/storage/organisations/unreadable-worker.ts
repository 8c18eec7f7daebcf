/**
 * A process that may not read everything in the data directory named by its argument, whoever starts it: root gives up its rights, so that
 * a mode means something. Says in one line of JSON what it met. See unreadable-file.test.ts.
 */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, copyFileSync, readdirSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mintId } from '../../../protocol/ids.ts';
import { FileProblemError } from '../../../storage/organisations/organisation-file.ts';
import { openReadable } from '../../../storage/organisations/organisation-readers.ts';
import { storageErrorCodeOf } from '../../../storage/sqlite/storage-error.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { eventually } from '../../support/eventually.ts';

/** `nobody` on every system with a root. */
const ORDINARY = 65_534;

const [dataDir = ''] = process.argv.slice(2);

async function makeOrganisation(storage: Storage, nowMs: number): Promise<string> {
  const id = mintId('org', nowMs);
  const autoTopUp = { enabled: false, amount_usd: 10 };
  await storage.writeControl('createOrganisation', { id, name: 'Acme', plan: 'free', members: [], autoTopUp, nowMs });
  await storage.write(id, 'expireUploads', { nowMs: 0, limit: 1 });
  return id;
}

/** Everything was loaded and opened before: the program itself may lie where an ordinary user cannot read it. */
function becomeOrdinary(): void {
  if (process.getuid?.() !== 0) return;
  for (const path of [dataDir, ...(readdirSync(dataDir, { recursive: true }) as string[]).map((name) => join(dataDir, name))]) {
    chownSync(path, ORDINARY, ORDINARY);
  }
  process.setgroups?.([]);
  process.setgid?.(ORDINARY);
  process.setuid?.(ORDINARY);
}

const storage = openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
const first = await makeOrganisation(storage, 1);
const second = await makeOrganisation(storage, 2);
const path = storage.layout.organisation(first);

/** Waits until there are this many conditions, and returns what they are. */
async function conditions(wanted: number): Promise<string[]> {
  await eventually(() => storage.conditions.list().length === wanted);
  return storage.conditions
    .list()
    .map(({ name, subject }) => `${name} ${subject === first ? 'first' : subject === second ? 'second' : subject}`);
}

/** How a read and a write of it end. */
async function using(organisationId: string): Promise<string[]> {
  const outcome = (error: unknown) => storageErrorCodeOf(error);
  const written = await storage.write(organisationId, 'expireUploads', { nowMs: 0, limit: 1 }).then(() => 'done', outcome);
  try {
    storage.organisation(organisationId).statement('SELECT count(*) FROM uploads').get();
    return ['done', written];
  } catch (error) {
    return [outcome(error), written];
  }
}

const met: Record<string, unknown> = {};
await using(first);
await using(second);
becomeOrdinary();

// The folder of the files, as a mount that went stale.
chmodSync(dirname(path), 0);
met.folderAway = (await conditions(2)).sort();
chmodSync(dirname(path), 0o700);
met.folderBack = await conditions(0);
met.served = [await using(first), await using(second)];

// A file that somebody else put back, while it is in use.
renameSync(path, `${path}.old`);
copyFileSync(`${path}.old`, path);
chmodSync(path, 0);
met.replaced = await conditions(1);
met.replacedUse = [await using(first), await using(second)];
met.replacedAfterUse = await conditions(1);
met.detail = storage.conditions.list()[0]?.detail;
chmodSync(path, 0o600);
met.restored = await conditions(0);
met.restoredUse = await using(first);

// One that was looked through before, and is opened for reading.
const closed = `${path}.closed`;
copyFileSync(path, closed);
chmodSync(closed, 0);
const notes: unknown[] = [];
try {
  openReadable(closed, {}, (error) => notes.push(error));
} catch (error) {
  met.closed = [error instanceof FileProblemError && error.message.includes('cannot be read: EACCES'), notes.length];
}

writeSync(1, `${JSON.stringify(met)}\n`);
process.exit(0);
