/** A data directory as a service leaves it while it runs: two organisations with an app each, an upload, a mail, keys. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { createApp } from '../../../storage/apps/app-creation.ts';
import type { ProgressLog } from '../../../storage/backup/backup.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { writeUploadFile } from '../../../storage/uploads/upload-files.ts';
import { DEVICE } from '../../support/client.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

export const NOW_MS = Date.UTC(2026, 10, 20);

export interface Place {
  readonly organisationId: string;
  readonly appId: string;
}

export interface Source {
  readonly dataDir: string;
  readonly storage: Storage;
  readonly places: readonly [Place, Place];
  /** In the first place. */
  readonly uploadId: string;
}

/** Stores an upload as the service does: the file, then its row. */
export async function addUpload(storage: Storage, { organisationId, appId }: Place, words: string): Promise<string> {
  const id = mintId('upl', NOW_MS);
  const about = { channel: 'live', deviceId: DEVICE, address: '', name: 'sealed', mediaType: 'text/plain' } as const;
  const row = { ...about, id, appId, size: words.length, appMaxBytes: 1_000_000 };
  await writeUploadFile(storage, organisationId, id, Buffer.from(words));
  await storage.write(organisationId, 'saveUpload', { ...row, nowMs: NOW_MS, expiresAtMs: NOW_MS + 1 });
  return id;
}

async function addPlace(storage: Storage, name: string): Promise<Place> {
  const organisationId = mintId('org', NOW_MS);
  const autoTopUp = { enabled: false, amount_usd: 10 };
  await storage.writeControl('createOrganisation', { id: organisationId, name, plan: 'free', members: [], autoTopUp, nowMs: NOW_MS });
  const { app } = await createApp(storage, { organisationId, name, platformHint: '', settings: {}, nowMs: NOW_MS });
  return { organisationId, appId: app.id };
}

/** Open until the test ends, so that its newest rows lie in write-ahead logs. */
export async function makeSource(t: TestContext, masterKey?: string): Promise<Source> {
  const dataDir = join(temporaryDir(t), 'data');
  const storage = openStorage({ dataDir, masterKey, onFatal: assert.fail });
  t.after(() => storage.close());
  const places = [await addPlace(storage, 'One'), await addPlace(storage, 'Two')] as const;
  const uploadId = await addUpload(storage, places[0], 'words');
  writeFileSync(storage.layout.operatorToken, 'rd_op_token\n', { mode: 0o600 });
  writeFileSync(join(storage.layout.outbox, `${'0'.repeat(32)}.eml`), 'mail', { mode: 0o600 });
  writeFileSync(join(storage.layout.outbox, `${'1'.repeat(32)}.eml.part`), 'half a mail', { mode: 0o600 });
  return { dataDir, storage, places, uploadId };
}

export interface TestLog extends ProgressLog {
  readonly warnings: readonly string[];
}

export function testLog(): TestLog {
  const warnings: string[] = [];
  return { warnings, info: () => undefined, warn: (_, text) => void warnings.push(text) };
}
