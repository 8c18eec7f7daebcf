import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Refusal } from '../../../protocol/errors.ts';
import { MANIFEST, type Manifest, manifestText, readManifest } from '../../../storage/backup/backup-manifest.ts';
import { makeFolder } from '../../../storage/data-layout.ts';
import { clearMoveFolders, copyOrganisation, newMoveFolder } from '../../../storage/moving/move-copy.ts';
import { MoveFiles } from '../../../storage/moving/move-files.ts';
import { emptyOrganisation, lockPath, placeOrganisation } from '../../../storage/moving/move-place.ts';
import { readSeal } from '../../../storage/moving/seal.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { StorageError } from '../../../storage/sqlite/storage-error.ts';
import { readUploadFile } from '../../../storage/uploads/upload-files.ts';
import { type MoveFixture, makeFile, note, openFixture, takesWrites, upload, uploadIds } from '../../actors/cells/move-fixture.ts';
import { eventually } from '../../support/eventually.ts';

interface Staged {
  readonly fixture: MoveFixture;
  readonly ref: { readonly organisationId: string; readonly moveId: string };
  /** What was copied on `a`, and what has come to `b`. */
  readonly copied: string;
  readonly folder: string;
  readonly uploadId: string;
}

const keyFingerprint = '0'.repeat(64);

/** The manifest with other contents, and the digest that fits them. */
function relisted(bytes: Buffer, change: (manifest: Manifest) => Partial<Manifest>): Buffer {
  const { digest: _, format: __, version: ___, ...manifest } = JSON.parse(bytes.toString()) as Manifest & { digest: string };
  return Buffer.from(manifestText({ ...manifest, ...change(manifest as Manifest) } as Manifest));
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
  const { folder: copied } = copyOrganisation(a.storage.layout, { ...ref, keyFingerprint });
  await b.storage.writeControl('offerArrival', { ...ref, sourceCell: 'a', cell: 'b', nowMs });
  const folder = newMoveFolder(b.storage.layout, 'arriving', ref);
  cpSync(copied, folder, { recursive: true });
  const uploads = join(folder, 'uploads', organisationId);
  makeFolder(uploads);
  cpSync(a.storage.layout.uploadsOf(organisationId), uploads, { recursive: true });
  return { fixture, ref, copied, folder, uploadId };
}

async function adopt({ fixture: { b }, ref, folder }: Staged): Promise<void> {
  const rows = await placeOrganisation(b.storage.layout, { ...ref, folder });
  await b.storage.writeControl('adoptArrival', { ...ref, rows, nowMs: Date.now() });
}

test('CELL-10: a copy holds what was written before the seal, and the seal', async (t) => {
  const { fixture, ref, copied, uploadId } = await stage(t);
  const { a } = fixture;
  const { organisationId, moveId } = ref;
  const { files, missing_uploads: missing, move } = readManifest(copied);
  assert.deepEqual(
    files.map(({ path }) => path),
    [`organisations/${organisationId}.sqlite`, `uploads/${organisationId}/${uploadId}`],
  );
  const rows = files[0]?.database?.rows;
  assert.deepEqual([rows?.uploads, rows?.seal, missing, move?.control_rows.app_keys?.length], [1, 1, [], 2]);
  // What was emptied since is no copy of it.
  const copy = { bytes: 1, rows: 1, uploads: 1, uploadBytes: 1 };
  assert.throws(() => copyOrganisation(a.storage.layout, { ...ref, copy, keyFingerprint }), /not what was sent/);
  // A copy of a file that takes writes would be a second one.
  await a.storage.write(organisationId, 'unsealOrganisation', { moveId });
  assert.throws(() => copyOrganisation(a.storage.layout, { ...ref, keyFingerprint }), /not sealed/);
  const { layout } = a.storage;
  assert.deepEqual(readdirSync(layout.movesOf(organisationId)), [basename(copied)]);
  clearMoveFolders(layout, 'leaving', ref);
  assert.deepEqual(readdirSync(layout.movesOf(organisationId)), []);
});

test('CELL-13: a copy is put in place as often as it is asked for, until the seal is off; from then on never', async (t) => {
  const staged = await stage(t);
  const { fixture, ref, folder, uploadId } = staged;
  const { b } = fixture;
  const { organisationId, moveId } = ref;
  for (let again = 0; again < 3; again++) await placeOrganisation(b.storage.layout, { ...ref, folder });
  assert.equal(takesWrites(b, organisationId), false);
  assert.deepEqual(await readUploadFile(b.storage, organisationId, uploadId), Buffer.from('an upload'));
  await adopt(staged);
  await b.arriving.unseal(ref);
  const later = await note(b, fixture);
  // From a process that slept all the while.
  await placeOrganisation(b.storage.layout, { ...ref, folder });
  assert.deepEqual(uploadIds(b, organisationId), [uploadId, later]);
  assert.equal(takesWrites(b, organisationId), true);
  // And when it is sealed again, on its way elsewhere.
  await b.storage.write(organisationId, 'sealOrganisation', { moveId: moveId.replace('mov_0000000000', 'mov_0000000001'), nowMs: 1 });
  await placeOrganisation(b.storage.layout, { ...ref, folder });
  await emptyOrganisation(b.storage.layout, { ...ref, because: 'discarded' });
  assert.deepEqual(uploadIds(b, organisationId), [uploadId, later]);
});

test('CELL-13: a file that takes writes is left as it is', async (t) => {
  const { fixture, ref, folder } = await stage(t);
  const { b } = fixture;
  makeFile(b, ref.organisationId);
  await assert.rejects(
    placeOrganisation(b.storage.layout, { ...ref, folder }),
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
  const { fixture, ref, folder } = await stage(t);
  const { layout } = fixture.b.storage;
  const holder = new Database(lockPath(layout, ref.organisationId));
  holder.exec('BEGIN EXCLUSIVE');
  await assert.rejects(placeOrganisation(layout, { ...ref, folder }), (error) => error instanceof StorageError && error.code === 'busy');
  // The kernel closes what a dead process has open.
  holder.close();
  await placeOrganisation(layout, { ...ref, folder });
});

test('CELL-14: a file that is being written to is filled and emptied once it is free, or not said to be', async (t) => {
  const staged = await stage(t);
  const { fixture, ref, folder } = staged;
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
  await held(there, 'the end', () => assert.rejects(placeOrganisation(b.storage.layout, { ...ref, folder }), isBusy));
  assert.equal(readSeal(b.storage.organisation(organisationId))?.moveId, old);
  await held(there, 'a while', () => placeOrganisation(b.storage.layout, { ...ref, folder }));
  assert.equal(readSeal(b.storage.organisation(organisationId))?.moveId, ref.moveId);
  const { layout } = a.storage;
  const control = openWriter(layout.control);
  control.exec("UPDATE moves SET step = 'switched'");
  control.close();
  await held(layout.organisation(organisationId), 'a while', () => emptyOrganisation(layout, { ...ref, because: 'moved' }));
  assert.deepEqual(uploadIds(a, organisationId), []);
});

test('CELL-13: what is damaged, missing or of another move is not put in place', async (t) => {
  const { fixture, ref, folder, uploadId } = await stage(t);
  const { a, b, organisationId } = fixture;
  const { layout } = b.storage;
  const place = () => placeOrganisation(layout, { ...ref, folder });
  const [database, upload] = [join(folder, 'organisations', `${organisationId}.sqlite`), join(folder, 'uploads', organisationId, uploadId)];
  const unsealed = readFileSync(a.storage.layout.organisation(organisationId));
  const listing = join(folder, MANIFEST);
  const other = { ...ref, moveId: ref.moveId.replace('00000000_', '00000009_') };
  for (const [path, spoil, said] of [
    [database, (bytes) => Buffer.from(bytes).fill(0x5a, 8192, 8192 + 64), /has other bytes/],
    [database, (bytes) => bytes.subarray(0, -1), /has \d+ bytes/],
    [upload, () => undefined, /is missing/],
    [upload, () => Buffer.alloc(0), /has 0 bytes/],
    [listing, (bytes) => Buffer.from(bytes.toString().replace('"uploads/', '"upload5/')), /digest does not fit/],
    [listing, () => undefined, /is missing/],
    [listing, (bytes) => relisted(bytes, ({ move }) => ({ move: move && { ...move, move_id: other.moveId } })), /is of mov_/],
    [listing, (bytes) => relisted(bytes, () => ({ move: undefined })), /is of undefined/],
    [listing, (bytes) => relisted(bytes, ({ move }) => ({ move: move && { ...move, control_schema_version: 99 } })), /different versions/],
    [listing, (bytes) => relisted(bytes, ({ files }) => ({ files: files.slice(0, 1) })), /is not in manifest/],
    [database, () => unsealed, /has \d+ bytes/],
  ] as readonly [string, (bytes: Buffer) => Buffer | undefined, RegExp][]) {
    const bytes = readFileSync(path);
    const spoiled = spoil(bytes);
    if (spoiled === undefined) rmSync(path);
    else writeFileSync(path, spoiled);
    await assert.rejects(place(), said);
    assert.equal(existsSync(layout.organisation(organisationId)), false);
    writeFileSync(path, bytes);
  }
  await assert.rejects(placeOrganisation(layout, { ...other, folder }), /is of mov_/);
  await place();
});

test('CELL-13: what comes as a stream is kept when it is a whole backup with names that backups have, and not before', async (t) => {
  const { fixture, ref, copied, uploadId } = await stage(t);
  const { a, b, organisationId } = fixture;
  const [sending, receiving] = [a, b].map(({ storage: { layout, vault } }) => new MoveFiles(layout, vault)) as [MoveFiles, MoveFiles];
  const whole = Buffer.concat(
    await sending
      .stream(
        copied,
        readManifest(copied).files.map((file) => file.path),
      )
      .toArray(),
  );
  const take = (...pieces: readonly Buffer[]) => receiving.place(ref, Readable.from(pieces));
  const head = (path: string) => Buffer.from(`${JSON.stringify({ path, size: 1 })}\nx`);
  for (const [sent, said] of [
    [[whole.subarray(0, -1)], /ends early/],
    [[whole.subarray(0, 40)], /ends early/],
    [[], /is missing/],
    [[head('control.sqlite')], /manifest.json is missing/],
    [[head('../../master-key')], /no backup/],
    [[head('organisations/x')], /no backup/],
    [[Buffer.alloc(4096, 'x')], /no backup/],
    [[head(MANIFEST), head(MANIFEST)], /EEXIST/],
  ] as const)
    await assert.rejects(take(...sent), said);
  const kept = (name: string) => name !== 'lock.sqlite' && name.startsWith('arriving-');
  assert.equal(readdirSync(b.storage.layout.movesOf(organisationId)).filter(kept).length, 1, 'only what this test copied');
  // Cut anywhere, also within the line of a file.
  const cuts = [0, 1, 30, 70, 1000, whole.length - 3];
  const taken = take(...cuts.map((at, index) => whole.subarray(at, cuts[index + 1])));
  await eventually(() => receiving.isPlacing(ref.moveId));
  const arriving = b.receive((given) => (given instanceof MoveFiles ? receiving : given) as typeof given);
  await assert.rejects(arriving.adopt(ref, Readable.from([])), /being put in place/);
  await taken;
  assert.equal(receiving.isPlacing(ref.moveId), false);
  assert.deepEqual(await readUploadFile(b.storage, organisationId, uploadId), Buffer.from('an upload'));
});

test('STORE-8, CELL-13: nothing but ids becomes a path', async (t) => {
  const { fixture, ref } = await stage(t);
  const { layout } = fixture.a.storage;
  assert.throws(() => newMoveFolder(layout, 'leaving', { ...ref, organisationId: '../..' }), /not an organisation id/);
  assert.throws(() => newMoveFolder(layout, 'leaving', { ...ref, moveId: '../x' }), /not the id of a move/);
});
