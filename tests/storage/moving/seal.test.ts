import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { CONTROL_TABLES, keepMovingRowsStill, readControlRows, replaceControlRows } from '../../../storage/moving/control-rows.ts';
import { MOVE_STEPS, type MoveStep } from '../../../storage/moving/moves.ts';
import { readSeal, sealing, transactions } from '../../../storage/moving/seal.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { StorageError, storageErrorCodeOf } from '../../../storage/sqlite/storage-error.ts';
import { storeApp } from '../../actors/setup/app-in-storage.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.UTC(2026, 10, 21, 10);
const MOVE = 'mov_0000000000_00000000000001_00000000000000aa';
const EARLIER = 'mov_0000000000_00000000000000_00000000000000ff';
const OTHER = 'mov_0000000000_00000000000002_00000000000000bb';

const SEALED = (error: unknown): boolean => error instanceof StorageError && error.code === 'sealed' && error.retryable;

test('CELL-10: what was called before it is written, what comes after it is refused, in one group too', async (t) => {
  const { storage, organisationId } = await storeApp(t, NOW);
  const note = () => storage.write(organisationId, 'addCredit', { amountMicroUsd: 1, nowMs: NOW });
  const outcomes = await Promise.allSettled([
    note(),
    storage.write(organisationId, 'sealOrganisation', { moveId: MOVE, nowMs: NOW }),
    note(),
    storage.write(organisationId, 'unsealOrganisation', { moveId: MOVE }),
    note(),
    storage.write(organisationId, 'sealOrganisation', { moveId: OTHER, nowMs: NOW }),
    note(),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'written' : (outcome.reason as StorageError).code)),
    ['written', 'written', 'sealed', 'written', 'written', 'written', 'sealed'],
  );
  const rows = storage.organisation(organisationId).statement('SELECT count(*) AS n FROM credit_purchases').get();
  assert.equal(rows?.n, 2);
  await assert.rejects(note(), SEALED);
});

test('CELL-10: another process that has the file open is refused from the same moment on', async (t) => {
  const { storage, organisationId } = await storeApp(t, NOW);
  const note = () => storage.write(organisationId, 'addCredit', { amountMicroUsd: 1, nowMs: NOW });
  await note();
  // As another node does.
  const elsewhere = openWriter(storage.layout.organisation(organisationId));
  transactions.sealOrganisation(elsewhere, { moveId: MOVE, nowMs: NOW });
  await assert.rejects(note(), SEALED);
  transactions.unsealOrganisation(elsewhere, { moveId: MOVE });
  await note();
  elsewhere.close();
});

test('CELL-10: a seal belongs to one move, which alone can put it on or take it off; a closing file refuses turns only', (t) => {
  const { db } = openFiles(t, NOW);
  assert.equal(sealing.refusals(db), undefined);
  assert.equal(transactions.closeOrganisation(db, { moveId: MOVE, nowMs: NOW }), true);
  assert.deepEqual(readSeal(db), { moveId: MOVE, sealedAtMs: null });
  assert.equal(sealing.refusals(db)?.('openTurn'), true);
  assert.equal(sealing.refusals(db)?.('commitTurn'), false);
  assert.equal(transactions.closeOrganisation(db, { moveId: EARLIER, nowMs: NOW }), false);
  assert.equal(transactions.sealOrganisation(db, { moveId: EARLIER, nowMs: NOW }), false);
  assert.equal(transactions.sealOrganisation(db, { moveId: MOVE, nowMs: NOW }), true);
  assert.equal(transactions.sealOrganisation(db, { moveId: MOVE, nowMs: NOW + 5 }), true);
  // A closing that comes late opens nothing.
  assert.equal(transactions.closeOrganisation(db, { moveId: MOVE, nowMs: NOW }), true);
  assert.deepEqual(readSeal(db), { moveId: MOVE, sealedAtMs: NOW });
  assert.equal(sealing.refusals(db)?.('commitTurn'), true);
  for (const name of Object.keys(transactions)) assert.equal(sealing.refusals(db)?.(name), false, name);
  transactions.unsealOrganisation(db, { moveId: OTHER });
  assert.equal(readSeal(db)?.moveId, MOVE);
  // What a late driver of an earlier move has left is the next one's, and as tight as it was.
  assert.equal(transactions.closeOrganisation(db, { moveId: OTHER, nowMs: NOW }), true);
  assert.deepEqual(readSeal(db), { moveId: OTHER, sealedAtMs: NOW });
  transactions.unsealOrganisation(db, { moveId: MOVE });
  assert.equal(readSeal(db)?.moveId, OTHER);
  transactions.unsealOrganisation(db, { moveId: OTHER });
  assert.equal(sealing.refusals(db), undefined);
});

/** Tables of the control file that say something of an organisation and stay where they are. */
const OF_THIS_CELL = ['organisation_files', 'organisation_uses', 'arrivals', 'foreign_names', 'moves', 'placements'];

test('CELL-8: every table of the control file that names an organisation travels, or is known to stay', (t) => {
  const { control } = openFiles(t, NOW);
  const naming = control
    .statement(
      "SELECT DISTINCT t.name FROM pragma_table_list t, pragma_table_info(t.name) c WHERE t.schema = 'main' AND c.name = 'organisation_id'",
    )
    .all()
    .map(({ name }) => name as string);
  const known = [...CONTROL_TABLES.map(({ table }) => table), ...OF_THIS_CELL];
  assert.deepEqual(
    naming.filter((name) => !known.includes(name)),
    [],
  );
});

test('CELL-8: rows of the control file come to another one as they are, and no others', (t) => {
  const [from, to] = [openFiles(t, NOW), openFiles(t, NOW)];
  addApp(from, 'Shop', NOW);
  const rows = readControlRows(from.control, from.organisationId);
  assert.deepEqual([rows.organisations?.length, rows.installation?.length, rows.app_directory?.length], [1, 1, 1]);
  const before = readControlRows(to.control, to.organisationId);
  for (let again = 0; again < 2; again++) replaceControlRows(to.control, from.organisationId, JSON.parse(JSON.stringify(rows)));
  assert.deepEqual(readControlRows(to.control, from.organisationId), rows);
  assert.deepEqual(readControlRows(to.control, to.organisationId), before);
  const forged = { organisations: [{ 'id) VALUES (1); --': 1 }] };
  assert.throws(() => replaceControlRows(to.control, from.organisationId, forged), /other columns/);
});

/** When a row that is written would not travel any more. */
const STILL: readonly MoveStep[] = ['sealed', 'switched', 'done'];

for (const step of MOVE_STEPS) {
  test(`CELL-10: rows of the control file ${STILL.includes(step) ? 'are kept still' : 'change'} at ${step}, and others always change`, (t) => {
    const files = openFiles(t, NOW);
    const { control, organisationId } = files;
    const other = mintId('org', NOW);
    addApp(files, 'Shop', NOW);
    control.exec(`INSERT INTO organisations SELECT '${other}', name, plan, members, auto_top_up, created_at_ms FROM organisations`);
    control.exec(
      `INSERT INTO moves (organisation_id, move_id, target_cell, step, started_at_ms, updated_at_ms) VALUES ('${organisationId}', '${MOVE}', 'b', '${step}', 1, 1)`,
    );
    keepMovingRowsStill(control);
    const outcome = (sql: string) => {
      try {
        control.exec(sql);
        return 'written';
      } catch (error) {
        return storageErrorCodeOf(error);
      }
    };
    const changesOf = (id: string) => [
      `UPDATE organisations SET name = 'x' WHERE id = '${id}'`,
      `INSERT INTO installation VALUES ('plans:${id}', '[]') ON CONFLICT (name) DO UPDATE SET value = '[]'`,
      `INSERT INTO app_directory VALUES ('app_${id}', '${id}', 1)`,
      `INSERT INTO setup_codes VALUES ('h${id}', 'ses', '${id}', 'app', 1, NULL, NULL)`,
      `INSERT INTO pairing_directory VALUES ('p${id}', '${id}', 1)`,
    ];
    const expected = STILL.includes(step) ? 'sealed' : 'written';
    assert.deepEqual(new Set(changesOf(organisationId).map(outcome)), new Set([expected]));
    assert.deepEqual(new Set(changesOf(other).map(outcome)), new Set(['written']));
    // What is too old for anybody to ask for may go.
    assert.equal(outcome('DELETE FROM pairing_directory'), 'written');
  });
}
