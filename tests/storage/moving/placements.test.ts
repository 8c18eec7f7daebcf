import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { listCells, readCellUrl, readForeignName } from '../../../storage/moving/cells.ts';
import { countPlacements, isOrganisationKnown, listPlacementsOn, readPlacement } from '../../../storage/moving/placements.ts';
import { openStorage } from '../../../storage/storage.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const ids = [1, 2, 3].map((n) => `org_${String(n).padStart(24, '0')}`) as [string, string, string];

function open(t: TestContext) {
  const storage = openStorage({ dataDir: temporaryDir(t), masterKey: undefined, onFatal: () => {} });
  t.after(() => storage.close());
  return storage;
}

test('CELL-6: of two placements the higher version holds, in whatever order they come', async (t) => {
  const { control, writeControl } = open(t);
  const [organisationId, second, third] = ids;
  assert.equal(readPlacement(control, organisationId), undefined);
  const place = (cell: string, version: number) =>
    writeControl('placeOrganisation', { organisationId, cell, version, nowMs: version * 10 });
  assert.equal(await place('b', 2), true);
  assert.equal(await place('a', 1), false);
  assert.equal(await place('c', 2), false);
  assert.deepEqual(readPlacement(control, organisationId), { cell: 'b', version: 2, placedAtMs: 20 });
  assert.equal(await place('a', 3), true);
  const placements = [
    { organisationId, cell: 'b', version: 3 },
    { organisationId: second, cell: 'a', version: 0 },
    { organisationId: third, cell: 'b', version: 1 },
  ];
  assert.deepEqual(await writeControl('takeOverPlacements', { placements, nowMs: 40 }), [second, third]);
  assert.deepEqual(await writeControl('takeOverPlacements', { placements, nowMs: 50 }), []);
  assert.deepEqual(listPlacementsOn(control, 'a', '', 10), [{ organisationId, cell: 'a', version: 3 }, placements[1]]);
  assert.deepEqual(listPlacementsOn(control, 'a', organisationId, 10), [placements[1]]);
  assert.deepEqual([...countPlacements(control)].sort(), [
    ['a', 2],
    ['b', 1],
  ]);
  assert.equal(isOrganisationKnown(control, organisationId), false, 'a placement alone is no organisation of this file');
});

test('CELL-6: a cell is what was last heard of it; names of other cells are kept until they are forgotten', async (t) => {
  const { control, writeControl } = open(t);
  const see = (cell: string, url: string, seenAtMs: number) => writeControl('seeCells', { cells: [{ cell, url, seenAtMs, term: 1 }] });
  await see('b', 'http://b.example', 20);
  await see('a', 'http://a.example', 10);
  await see('b', 'http://old.example', 15);
  assert.deepEqual(listCells(control), [
    { cell: 'a', url: 'http://a.example', seenAtMs: 10, term: 1 },
    { cell: 'b', url: 'http://b.example', seenAtMs: 20, term: 1 },
  ]);
  assert.deepEqual([readCellUrl(control, 'b'), readCellUrl(control, 'c')], ['http://b.example', undefined]);
  const note = (digest: string, organisationId: string, nowMs: number) =>
    writeControl('noteForeignName', { digest, organisationId, nowMs });
  await note('one', ids[0], 10);
  await note('two', ids[1], 20);
  await note('one', ids[2], 30);
  assert.deepEqual([readForeignName(control, 'one'), readForeignName(control, 'two')], [ids[2], ids[1]]);
  assert.equal(await writeControl('forgetForeignNames', { beforeMs: 30 }), 1);
  assert.deepEqual([readForeignName(control, 'one'), readForeignName(control, 'two')], [ids[2], undefined]);
  await writeControl('forgetForeignName', { digest: 'one' });
  assert.equal(readForeignName(control, 'one'), undefined);
});
