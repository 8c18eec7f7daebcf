import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { Refusal } from '../../../protocol/errors.ts';
import { mintId } from '../../../protocol/ids.ts';
import { readPlacement } from '../../../storage/moving/placements.ts';
import { readSeal } from '../../../storage/moving/seal.ts';
import { NOBODY, usersOf } from '../../../storage/organisations/organisation-uses.ts';
import { StorageError } from '../../../storage/sqlite/storage-error.ts';
import { readUploadFile } from '../../../storage/uploads/upload-files.ts';
import { eventually } from '../../support/eventually.ts';
import {
  arriveAt,
  codeHashes,
  introduce,
  issueCode,
  leaveTurnOpen,
  makeFile,
  note,
  openCell,
  openFixture,
  takesWrites,
  upload,
  uploadIds,
} from './move-fixture.ts';

const SEALED = (error: unknown): boolean => error instanceof StorageError && error.code === 'sealed' && error.retryable;

test('CELL-8: an organisation arrives with its file, its uploads and its keys, and is emptied where it was', async (t) => {
  const fixture = await openFixture(t, { threads: true });
  const { a, b, organisationId, appId, keys } = fixture;
  // Larger than what a stream holds, so that it travels in several pieces.
  const words = Buffer.alloc(5 * 1024 * 1024, 'personal words ');
  const ids = [await upload(a, fixture, words), await upload(a, fixture, Buffer.from('small'))];
  const codeHash = await issueCode(a, fixture, 'one');
  const moves = a.node();
  const begun = await moves.begin(organisationId, 'b');
  assert.equal(begun.step, 'begun');
  await arriveAt(moves, organisationId, 'done');

  assert.deepEqual(uploadIds(b, organisationId), ids);
  assert.deepEqual(await readUploadFile(b.storage, organisationId, ids[0] as string), words);
  assert.equal(b.storage.key(keys.live)?.appId, appId);
  assert.deepEqual(codeHashes(b, organisationId), [codeHash]);
  assert.deepEqual(
    [readPlacement(a.storage.control, organisationId), readPlacement(b.storage.control, organisationId)].map((placed) => [
      placed?.cell,
      placed?.version,
    ]),
    [
      ['b', 1],
      ['b', 1],
    ],
  );
  assert.deepEqual([a.left, a.stayed, b.arrived], [[organisationId], [], [organisationId]]);
  assert.deepEqual([takesWrites(a, organisationId), takesWrites(b, organisationId)], [false, true]);
  assert.deepEqual(uploadIds(a, organisationId), []);
  assert.equal(existsSync(a.storage.layout.uploadsOf(organisationId)), false);
  for (const { storage } of [a, b]) assert.deepEqual(readdirSync(storage.layout.movesOf(organisationId)), ['lock.sqlite']);
  // It is a file of some tables and no rows, and says no word of what it held.
  assert.ok(statSync(a.storage.layout.organisation(organisationId)).size < 1024 * 1024);
  await upload(b, fixture, Buffer.from('goes on'));
  await assert.rejects(note(a, fixture), SEALED);
  await assert.rejects(issueCode(a, fixture, 'too late'), SEALED);
});

test('CELL-8, STORE-20, STORE-21: an organisation to which nothing was written moves too, and is looked through where it arrives', async (t) => {
  const { a, b } = await openFixture(t);
  const nowMs = Date.now();
  const id = mintId('org', nowMs);
  const autoTopUp = { enabled: false, amount_usd: 10 };
  await a.storage.writeControl('createOrganisation', { id, name: 'Nothing', plan: 'free', members: [], autoTopUp, nowMs });
  assert.equal(existsSync(a.storage.layout.organisation(id)), false);
  const moves = a.node();
  await moves.begin(id, 'b');
  await arriveAt(moves, id, 'done');
  assert.deepEqual([takesWrites(a, id), takesWrites(b, id), b.arrived], [false, true, [id]]);
  // Until a process of the cell looks it through: what is due in it the control file there does not know.
  assert.ok(usersOf(b.storage.control, id).includes(NOBODY));
});

test('CELL-8: an organisation that comes back is seen by connections from before it left', async (t) => {
  const fixture = await openFixture(t);
  const { a, b, organisationId } = fixture;
  const reader = a.storage.organisation(organisationId);
  const count = () => reader.statement('SELECT count(*) AS n FROM uploads').get()?.n;
  await upload(a, fixture, Buffer.from('one'));
  assert.equal(count(), 1);
  const [there, back] = [a.node(), b.node()];
  await there.begin(organisationId, 'b');
  await arriveAt(there, organisationId, 'done');
  assert.equal(count(), 0);
  await upload(b, fixture, Buffer.from('two'));
  await back.begin(organisationId, 'a');
  await arriveAt(back, organisationId, 'done');
  assert.equal(count(), 2);
  await upload(a, fixture, Buffer.from('three'));
  assert.equal(count(), 3);
  await issueCode(a, fixture, 'keys are made again');
  assert.deepEqual([takesWrites(a, organisationId), takesWrites(b, organisationId)], [true, false]);
  assert.equal(readPlacement(b.storage.control, organisationId)?.version, 2);
  // And once more from there.
  await there.begin(organisationId, 'b');
  await arriveAt(there, organisationId, 'done');
  assert.equal(uploadIds(b, organisationId).length, 3);
});

test('CELL-8: turns that run get to end, while no new one is opened', async (t) => {
  const fixture = await openFixture(t);
  const { a, organisationId } = fixture;
  let alive = true;
  const asked: string[] = [];
  const moves = a.node({
    times: { quietMs: 10_000 },
    isAlive(node) {
      asked.push(node);
      return alive;
    },
  });
  const db = a.storage.organisation(organisationId);
  leaveTurnOpen(a, fixture, 'node~12345678');
  await moves.begin(organisationId, 'b');
  await eventually(() => asked.length >= 2);
  assert.equal(readSeal(db)?.sealedAtMs, null);
  // What the running turn has to write is written; a turn is not opened.
  await a.storage.write(organisationId, 'expireUploads', { nowMs: 0, limit: 1 });
  await assert.rejects(a.storage.write(organisationId, 'openTurn', {} as never), SEALED);
  assert.equal(moves.read(organisationId)?.step, 'begun');
  alive = false;
  await arriveAt(moves, organisationId, 'done');
  assert.deepEqual(new Set(asked), new Set(['node~12345678']));
});

test('CELL-12: what the other cell will not have stays, and is not sealed', async (t) => {
  const fixture = await openFixture(t);
  const { a, b, organisationId } = fixture;
  const stranger = await openCell(t, 'c', { masterKey: Buffer.alloc(32, 7).toString('base64') });
  await introduce(a, b, stranger);
  const moves = a.node();
  await moves.begin(organisationId, 'c');
  await arriveAt(moves, organisationId, 'aborted');
  assert.match(moves.read(organisationId)?.error ?? '', /MASTER_KEY/);
  assert.equal(takesWrites(a, organisationId), true);

  // A file that takes writes lies there, whoever made it.
  makeFile(b, organisationId);
  await moves.begin(organisationId, 'b');
  await arriveAt(moves, organisationId, 'aborted');
  assert.match(moves.read(organisationId)?.error ?? '', /takes writes/);
  await upload(a, fixture, Buffer.from('goes on'));
  assert.deepEqual(uploadIds(b, organisationId), []);
});

test('CELL-12: a move that cannot get on is given up, and the organisation takes writes again', async (t) => {
  const fixture = await openFixture(t);
  const { a, b, organisationId } = fixture;
  // It lets the organisation come, and cannot take its files.
  b.arriving.adopt = () => Promise.reject(new Error('a full disk'));
  const id = await upload(a, fixture, Buffer.from('one'));
  const moves = a.node({ times: { giveUpMs: 30 } });
  await moves.begin(organisationId, 'b');
  await arriveAt(moves, organisationId, 'aborted');
  assert.match(moves.read(organisationId)?.error ?? '', /went wrong/);
  await eventually(() => a.stayed.length !== 0);
  await upload(a, fixture, Buffer.from('two'));
  assert.equal(b.arriving.read(organisationId)?.step, 'discarded');

  b.arriving = b.receive();
  await moves.begin(organisationId, 'b');
  await arriveAt(moves, organisationId, 'done');
  assert.equal(uploadIds(b, organisationId)[0], id);
});

test('CELL-12: until the map is switched the move is undone on both cells; after that it is refused', async (t) => {
  const fixture = await openFixture(t);
  const { a, b, organisationId } = fixture;
  await upload(a, fixture, Buffer.from('one'));
  let release = () => {};
  const reached = new Promise<void>((resolve) => {
    const held = new Promise<void>((go) => {
      release = go;
    });
    // The copy is in place over there, and its driver does not know yet.
    const { adopt } = b.arriving;
    b.arriving.adopt = async (ref, stream) => {
      const step = await adopt.call(b.arriving, ref, stream);
      resolve();
      await held;
      return step;
    };
  });
  const moves = a.node();
  await moves.begin(organisationId, 'b');
  await reached;
  assert.equal(b.arriving.read(organisationId)?.step, 'adopted');
  await assert.rejects(note(b, fixture), SEALED);
  const aborted = await a.node().abort(organisationId);
  assert.equal(aborted.step, 'aborted');
  await upload(a, fixture, Buffer.from('at once'));
  release();
  await eventually(() => b.arriving.read(organisationId)?.step === 'discarded');
  await assert.rejects(note(b, fixture), SEALED);
  assert.equal(readPlacement(b.storage.control, organisationId)?.cell, 'a');
  await assert.rejects(b.arriving.unseal({ organisationId, moveId: aborted.moveId }), Refusal);

  b.arriving = b.receive();
  await moves.begin(organisationId, 'b');
  await arriveAt(moves, organisationId, 'done');
  assert.equal(uploadIds(b, organisationId).length, 2);
  await assert.rejects(moves.abort(organisationId), (error) => error instanceof Refusal && error.code === 'conflict');
});

test('CELL-11: what is asked for twice is one move; what cannot be is said', async (t) => {
  const { a, b, organisationId } = await openFixture(t);
  b.arriving.offer = () => Promise.reject(new Error('later'));
  const moves = a.node();
  const [one, two] = [await moves.begin(organisationId, 'b'), await a.node().begin(organisationId, 'b')];
  assert.equal(one.moveId, two.moveId);
  const refused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;
  await assert.rejects(moves.begin(organisationId, 'a'), refused('conflict'));
  await assert.rejects(moves.begin(organisationId, 'nowhere'), refused('not_found'));
  await assert.rejects(moves.begin('org_000000000000000000000009', 'b'), refused('not_found'));
  b.arriving = b.receive();
  await arriveAt(moves, organisationId, 'done');
  await assert.rejects(moves.begin(organisationId, 'b'), refused('conflict'));
});
