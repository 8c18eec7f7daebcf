import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Refusal } from '../../../protocol/errors.ts';
import { makeFolder } from '../../../storage/data-layout.ts';
import { copyOrganisation, readManifest } from '../../../storage/moving/move-copy.ts';
import { contentPath, holds, keepPiece, lockPath, moveFolder } from '../../../storage/moving/move-folders.ts';
import { emptyOrganisation, placeOrganisation } from '../../../storage/moving/move-place.ts';
import { readSeal } from '../../../storage/moving/seal.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { DamagedDatabase } from '../../../storage/sqlite/database-copy.ts';
import { StorageError } from '../../../storage/sqlite/storage-error.ts';
import { readUploadFile } from '../../../storage/uploads/upload-files.ts';
import { type MoveFixture, makeFile, note, openFixture, takesWrites, upload, uploadIds } from '../../actors/cells/move-fixture.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

interface Staged {
  readonly fixture: MoveFixture;
  readonly ref: { readonly organisationId: string; readonly moveId: string };
  readonly manifest: string;
  /** What has come to `b`. */
  readonly folder: string;
  readonly uploadId: string;
}

/** A sealed organisation on `a`, of which everything has come to `b` and nothing is in place. */
async function stage(t: TestContext): Promise<Staged> {
  const fixture = await openFixture(t);
  const { a, b, organisationId } = fixture;
  const nowMs = Date.now();
  const uploadId = await upload(a, fixture, Buffer.from('an upload'));
  const { moveId } = await a.storage.writeControl('beginMove', {
    organisationId,
    cell: 'a',
    targetCell: 'b',
    nonce: '0'.repeat(16),
    nowMs,
  });
  const ref = { organisationId, moveId };
  await a.storage.write(organisationId, 'sealOrganisation', { moveId, nowMs });
  const { manifest } = copyOrganisation(a.storage.layout, ref);
  await b.storage.writeControl('offerArrival', { ...ref, sourceCell: 'a', cell: 'b', nowMs });
  const [from, folder] = [
    moveFolder(a.storage.layout, 'leaving', organisationId, moveId),
    moveFolder(b.storage.layout, 'arriving', organisationId, moveId),
  ];
  makeFolder(folder);
  const listed = readManifest(from, manifest, ref);
  for (const sha256 of [manifest, listed.database.sha256]) copyFileSync(contentPath(from, sha256), contentPath(folder, sha256));
  for (const { id, sha256 } of listed.uploads) copyFileSync(a.storage.layout.upload(organisationId, id), contentPath(folder, sha256));
  return { fixture, ref, manifest, folder, uploadId };
}

async function adopt({ fixture: { b }, ref, manifest }: Staged): Promise<void> {
  const rows = await placeOrganisation(b.storage.layout, { ...ref, manifest });
  await b.storage.writeControl('adoptArrival', { ...ref, rows, nowMs: Date.now() });
}

test('CELL-10: a copy holds what was written before the seal, and the seal', async (t) => {
  const { fixture, ref, manifest } = await stage(t);
  const { a } = fixture;
  const folder = moveFolder(a.storage.layout, 'leaving', ref.organisationId, ref.moveId);
  const { database, uploads, lostUploads, control } = readManifest(folder, manifest, ref);
  assert.equal(database.rows.uploads, 1);
  assert.equal(database.rows.seal, 1);
  assert.equal(
    createHash('sha256')
      .update(readFileSync(contentPath(folder, database.sha256)))
      .digest('hex'),
    database.sha256,
  );
  assert.deepEqual([uploads.length, lostUploads, control.app_keys?.length], [1, [], 2]);
  // A copy of a file that takes writes would be a second one.
  await a.storage.write(ref.organisationId, 'unsealOrganisation', { moveId: ref.moveId });
  assert.throws(() => copyOrganisation(a.storage.layout, ref), /not sealed/);
  assert.ok(!readdirSync(folder).some((name) => name.endsWith('.part')));
});

test('CELL-13: a copy is put in place as often as it is asked for, until the seal is off; from then on never', async (t) => {
  const staged = await stage(t);
  const { fixture, ref, manifest, uploadId } = staged;
  const { b } = fixture;
  const { organisationId, moveId } = ref;
  for (let again = 0; again < 3; again++) await placeOrganisation(b.storage.layout, { ...ref, manifest });
  assert.equal(takesWrites(b, organisationId), false);
  assert.deepEqual(await readUploadFile(b.storage, organisationId, uploadId), Buffer.from('an upload'));
  await adopt(staged);
  await b.arriving.unseal(ref);
  assert.ok(existsSync(staged.folder));
  const later = await note(b, fixture);
  // From a process that slept all the while.
  await placeOrganisation(b.storage.layout, { ...ref, manifest });
  assert.deepEqual(uploadIds(b, organisationId), [uploadId, later]);
  assert.equal(takesWrites(b, organisationId), true);
  // And when it is sealed again, on its way elsewhere.
  await b.storage.write(organisationId, 'sealOrganisation', { moveId: moveId.replace('mov_0000000000', 'mov_0000000001'), nowMs: 1 });
  await placeOrganisation(b.storage.layout, { ...ref, manifest });
  await emptyOrganisation(b.storage.layout, { ...ref, because: 'discarded' });
  assert.deepEqual(uploadIds(b, organisationId), [uploadId, later]);
});

test('CELL-13: a file that takes writes is left as it is', async (t) => {
  const { fixture, ref, manifest } = await stage(t);
  const { b } = fixture;
  makeFile(b, ref.organisationId);
  await assert.rejects(
    placeOrganisation(b.storage.layout, { ...ref, manifest }),
    (error) => error instanceof Refusal && error.code === 'conflict',
  );
  assert.equal(takesWrites(b, ref.organisationId), true);
});

test('CELL-8: an empty file takes the place of what has left; what has come back is not emptied', async (t) => {
  const { fixture, ref } = await stage(t);
  const { a } = fixture;
  const { organisationId, moveId } = ref;
  const empty = () => emptyOrganisation(a.storage.layout, { ...ref, because: 'moved' });
  // Not before the other cell has it.
  await empty();
  assert.equal(uploadIds(a, organisationId).length, 1);
  await a.storage.writeControl('advanceMove', { ...ref, from: 'begun', to: 'sealed', nowMs: 1 });
  await a.storage.writeControl('switchMove', { ...ref, cell: 'a', nowMs: 1 });
  for (let again = 0; again < 2; again++) await empty();
  assert.deepEqual(uploadIds(a, organisationId), []);
  assert.equal(existsSync(a.storage.layout.uploadsOf(organisationId)), false);
  assert.equal(readSeal(a.storage.organisation(organisationId))?.moveId, moveId);
  assert.ok(!readFileSync(a.storage.layout.organisation(organisationId)).includes('Shop'), 'nothing of it can be read');
  // It has come back, and takes writes: a process that slept since then does nothing.
  await a.storage.write(organisationId, 'unsealOrganisation', { moveId });
  await a.storage.write(organisationId, 'addCredit', { amountMicroUsd: 1, nowMs: 1 });
  await assert.rejects(empty(), /not of/);
  await a.storage.writeControl('advanceMove', { ...ref, from: 'switched', to: 'done', nowMs: 1 });
  await empty();
  assert.equal(a.storage.organisation(organisationId).statement('SELECT count(*) AS n FROM credit_purchases').get()?.n, 1);
});

test('CELL-14: one process at a time changes files in place, and one that died holds nothing up', async (t) => {
  const { fixture, ref, manifest } = await stage(t);
  const { layout } = fixture.b.storage;
  const holder = new Database(lockPath(layout, ref.organisationId));
  holder.exec('BEGIN EXCLUSIVE');
  await assert.rejects(placeOrganisation(layout, { ...ref, manifest }), (error) => error instanceof StorageError && error.code === 'busy');
  // The kernel closes what a dead process has open.
  holder.close();
  await placeOrganisation(layout, { ...ref, manifest });
});

test('CELL-14: a file that is being written to is filled and emptied once it is free, or not said to be', async (t) => {
  const staged = await stage(t);
  const { fixture, ref, manifest } = staged;
  const { a, b, organisationId } = fixture;
  // What is left of an earlier time here.
  makeFile(b, organisationId);
  const old = ref.moveId.replace('00000000_', '00000009_');
  await b.storage.write(organisationId, 'sealOrganisation', { moveId: old, nowMs: 1 });
  const isBusy = (error: unknown) => error instanceof StorageError && error.code === 'busy';
  /** Holds the file until the work has ended, or until it has tried for a while. */
  const held = async (path: string, until: 'the end' | 'a while', work: () => Promise<unknown>) => {
    const writer = openWriter(path);
    writer.exec('BEGIN IMMEDIATE');
    const working = work();
    if (until === 'the end') await working;
    else for (let tick = 0; tick < 10; tick++) await nextTick();
    writer.close();
    await working;
  };
  const there = b.storage.layout.organisation(organisationId);
  await held(there, 'the end', () => assert.rejects(placeOrganisation(b.storage.layout, { ...ref, manifest }), isBusy));
  assert.equal(readSeal(b.storage.organisation(organisationId))?.moveId, old);
  await held(there, 'a while', () => placeOrganisation(b.storage.layout, { ...ref, manifest }));
  assert.equal(readSeal(b.storage.organisation(organisationId))?.moveId, ref.moveId);
  const { layout } = a.storage;
  const control = openWriter(layout.control);
  control.exec("UPDATE moves SET step = 'switched'");
  control.close();
  await held(layout.organisation(organisationId), 'a while', () => emptyOrganisation(layout, { ...ref, because: 'moved' }));
  assert.deepEqual(uploadIds(a, organisationId), []);
});

test('CELL-13: what is damaged, missing or of another move is not put in place', async (t) => {
  const { fixture, ref, manifest, folder } = await stage(t);
  const { layout } = fixture.b.storage;
  const place = () => placeOrganisation(layout, { ...ref, manifest });
  const { database, uploads } = readManifest(folder, manifest, ref);
  const path = contentPath(folder, database.sha256);
  const whole = readFileSync(path);
  const broken = Buffer.from(whole);
  broken.fill(0x5a, 8192, 8192 + 64);
  writeFileSync(path, broken);
  await assert.rejects(place(), DamagedDatabase);
  writeFileSync(path, whole.subarray(0, whole.length - 1));
  await assert.rejects(place(), /has not come yet/);
  writeFileSync(path, whole);
  const upload = contentPath(folder, uploads[0]?.sha256 ?? '');
  const bytes = readFileSync(upload);
  writeFileSync(upload, '');
  await assert.rejects(place(), /has not come yet/);
  writeFileSync(upload, bytes);
  const list = contentPath(folder, manifest);
  const text = readFileSync(list, 'utf8');
  writeFileSync(list, text.replace('"uploads"', '"upload5"'));
  await assert.rejects(place(), /damaged/);
  assert.equal(existsSync(layout.organisation(ref.organisationId)), false);
  writeFileSync(list, text);
  await place();
});

test('CELL-13: a file that comes in pieces is there when all of it is right, and not before', async (t) => {
  const folder = join(temporaryDir(t), 'arriving');
  const bytes = Buffer.from('0123456789');
  const content = { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
  assert.equal(await keepPiece(folder, content, 0, bytes.subarray(0, 4)), false);
  assert.equal(await holds(folder, content), false);
  // A sender that begins again, and one that goes on meanwhile.
  assert.equal(await keepPiece(folder, content, 0, bytes.subarray(0, 6)), false);
  assert.equal(await keepPiece(folder, content, 4, bytes.subarray(4)), true);
  assert.equal(await keepPiece(folder, content, 0, bytes.subarray(0, 4)), true);
  assert.deepEqual(readFileSync(contentPath(folder, content.sha256)), bytes);
  const other = { sha256: 'ab'.repeat(32), size: 10 };
  await assert.rejects(keepPiece(folder, other, 0, bytes), /what came for/);
  await assert.rejects(keepPiece(folder, { ...other, sha256: '../etc' }, 0, bytes), /not a digest/);
  assert.equal(await holds(folder, other), false);
});

test('STORE-8, CELL-13: nothing but ids and digests becomes a path', async (t) => {
  const { fixture, ref } = await stage(t);
  const { layout } = fixture.a.storage;
  assert.throws(() => moveFolder(layout, 'leaving', '../..', ref.moveId), /not an organisation id/);
  assert.throws(() => moveFolder(layout, 'leaving', ref.organisationId, '../x'), /not the id of a move/);
});
