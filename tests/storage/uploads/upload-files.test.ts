/** How files are kept beside their rows. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { prepareDataDir } from '../../../storage/data-layout.ts';
import { PIECE_BYTES } from '../../../storage/secrets/sealed-file.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import {
  deleteUploadFiles,
  readUploadFile,
  readUploadHead,
  sweepUploadFiles,
  uploadPieces,
  writeUploadFile,
} from '../../../storage/uploads/upload-files.ts';
import { each } from '../../support/each.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const NOW = Date.UTC(2026, 10, 20);
const ORGANISATION = mintId('org', NOW);
const WORDS = Buffer.from('My passport number is X1234567.');

function files(t: TestContext) {
  const layout = prepareDataDir(temporaryDir(t));
  return { layout, vault: openVault(layout.masterKey, undefined) };
}

test('STORE-12: a file comes back as it was, lies sealed on the disk and opens under its own id only', async (t) => {
  const storage = files(t);
  const [one, other] = [mintId('upl', NOW), mintId('upl', NOW)];
  await writeUploadFile(storage, ORGANISATION, one, WORDS);
  assert.deepEqual(await readUploadFile(storage, ORGANISATION, one), WORDS);
  const path = storage.layout.upload(ORGANISATION, one);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(readFileSync(path).includes('passport'), false);
  writeFileSync(storage.layout.upload(ORGANISATION, other), readFileSync(path));
  await assert.rejects(readUploadFile(storage, ORGANISATION, other));
});

test('STORE-12: a large file is sealed in pieces, which come back one by one; cut off, shuffled or from another file they do not open', async (t) => {
  const storage = files(t);
  const [one, other] = [mintId('upl', NOW), mintId('upl', NOW)];
  const bytes = Buffer.from(Array.from({ length: 3 * PIECE_BYTES + 1 }, (_, at) => at % 251));
  await writeUploadFile(storage, ORGANISATION, one, bytes);
  await writeUploadFile(storage, ORGANISATION, other, bytes);
  const read = async () => {
    const pieces: Buffer[] = [];
    for await (const piece of uploadPieces(storage, ORGANISATION, one)) pieces.push(piece);
    return pieces;
  };
  const pieces = await read();
  assert.deepEqual(each(pieces, 'length'), [PIECE_BYTES, PIECE_BYTES, PIECE_BYTES, 1]);
  assert.ok(Buffer.concat(pieces).equals(bytes));
  assert.ok((await readUploadHead(storage, ORGANISATION, one))?.equals(bytes.subarray(0, PIECE_BYTES)));
  const path = storage.layout.upload(ORGANISATION, one);
  const sealed = readFileSync(path);
  const frame = PIECE_BYTES + 28;
  const frames = [0, 1, 2, 3].map((at) => sealed.subarray(at * frame, (at + 1) * frame));
  const [a, b, c, d] = frames as [Buffer, Buffer, Buffer, Buffer];
  const stranger = readFileSync(storage.layout.upload(ORGANISATION, other)).subarray(0, frame);
  for (const changed of [[a, b, c], [a], [], [b, a, c, d], [a, b, c, d, d], [stranger, b, c, d], [a, b, c, d.subarray(1)]]) {
    writeFileSync(path, Buffer.concat(changed));
    await assert.rejects(read());
  }
});

test('STORE-12: an upload that is deleted is gone, and deleting it again is no error', async (t) => {
  const storage = files(t);
  const ids = [mintId('upl', NOW), mintId('upl', NOW)];
  for (const id of ids) await writeUploadFile(storage, ORGANISATION, id, WORDS);
  await deleteUploadFiles(storage.layout, ORGANISATION, ids.slice(0, 1));
  await deleteUploadFiles(storage.layout, ORGANISATION, ids.slice(0, 1));
  assert.equal(await readUploadFile(storage, ORGANISATION, ids[0] ?? ''), undefined);
  assert.deepEqual(await readUploadFile(storage, ORGANISATION, ids[1] ?? ''), WORDS);
});

test('STORE-12: a disk that refuses leaves nothing behind', async (t) => {
  const storage = files(t);
  const id = mintId('upl', NOW);
  // The finished name is taken by something that no file can replace.
  mkdirSync(join(storage.layout.upload(ORGANISATION, id), 'in the way'), { recursive: true });
  await assert.rejects(writeUploadFile(storage, ORGANISATION, id, WORDS));
  assert.deepEqual(readdirSync(storage.layout.uploadsOf(ORGANISATION)), [id]);
});

test('STORE-12: a sweep deletes what a crash left, and nothing that has a row, is newer or is none of ours', async (t) => {
  const { layout } = files(t);
  const folder = layout.uploadsOf(ORGANISATION);
  mkdirSync(folder);
  // More than one group of names.
  const stray = Array.from({ length: 1_100 }, () => mintId('upl', NOW - 2));
  const kept = mintId('upl', NOW - 2);
  const newer = mintId('upl', NOW + 2);
  const unfinished = (id: string) => `${id}.0a1b2c3d.part`;
  for (const name of [...stray, kept, newer, unfinished(mintId('upl', NOW - 2)), unfinished(newer), 'notes.txt']) {
    writeFileSync(join(folder, name), '');
  }
  const asked: number[] = [];
  const known = (ids: readonly string[]) => {
    asked.push(ids.length);
    return new Set([kept]);
  };
  assert.equal(await sweepUploadFiles(layout, ORGANISATION, mintId('upl', NOW), known), 1_101);
  assert.deepEqual(readdirSync(folder).sort(), ['notes.txt', kept, newer, unfinished(newer)].sort());
  assert.ok(Math.max(...asked) <= 500);
  assert.equal(await sweepUploadFiles(layout, mintId('org', NOW), mintId('upl', NOW), known), 0);
});

test('STORE-8: only ids become paths of uploads', (t) => {
  const { layout } = files(t);
  assert.throws(() => layout.upload(ORGANISATION, '../../control.sqlite'), /not an upload id/);
  assert.throws(() => layout.upload('..', mintId('upl', NOW)), /not an organisation id/);
});
