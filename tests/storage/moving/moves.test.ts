import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Refusal } from '../../../protocol/errors.ts';
import { transactions as arriving, readArrival } from '../../../storage/moving/arrivals.ts';
import { readControlRows } from '../../../storage/moving/control-rows.ts';
import {
  goneMoveId,
  isMoveId,
  listStranded,
  MOVE_STEPS,
  type MoveRow,
  type MoveStep,
  transactions as moving,
  placementVersionOf,
  readMove,
} from '../../../storage/moving/moves.ts';
import { transactions as placing, readPlacement } from '../../../storage/moving/placements.ts';
import { organisationIds } from '../../../storage/organisations/organisations.ts';
import { openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.UTC(2026, 10, 21, 10);
const NONCE = '00112233445566aa';

function begin(t: TestContext, step: MoveStep = 'begun') {
  const files = openFiles(t, NOW);
  const { control, organisationId } = files;
  const input = { organisationId, cell: 'a', targetCell: 'b', nonce: NONCE, nowMs: NOW };
  const move = moving.beginMove(control, input);
  control.statement('UPDATE moves SET step = :step').run({ step });
  return { control, organisationId, input, move, ref: { organisationId, moveId: move.moveId, nowMs: NOW + 1 } };
}

function refuses(code: string, work: () => unknown): void {
  assert.throws(work, (error: unknown) => error instanceof Refusal && error.code === code);
}

test('CELL-11: ids of moves sort by placement and then by time, whatever the clocks of the cells say', (t) => {
  const { control, organisationId, input, move } = begin(t, 'aborted');
  assert.ok(isMoveId(move.moveId));
  const earlier = moving.beginMove(control, { ...input, nowMs: NOW - 60_000 });
  assert.ok(earlier.moveId > move.moveId);
  moving.abortMove(control, { organisationId, moveId: earlier.moveId, nowMs: NOW, error: null });
  placing.placeOrganisation(control, { organisationId, cell: 'a', version: 2, nowMs: NOW });
  const placed = moving.beginMove(control, { ...input, nowMs: NOW - 120_000 });
  assert.ok(placed.moveId > earlier.moveId);
  assert.equal(placementVersionOf(placed.moveId), 2);
});

for (const step of MOVE_STEPS) {
  test(`CELL-12: at ${step} the map is switched only from sealed, and aborted only before`, (t) => {
    const one = begin(t, step);
    assert.equal(moving.switchMove(one.control, { ...one.ref, cell: 'a' }), step === 'sealed');
    const at = step === 'sealed' ? 'switched' : step;
    assert.equal(readMove(one.control, one.organisationId)?.step, at);
    assert.deepEqual(readPlacement(one.control, one.organisationId)?.cell, step === 'sealed' ? 'b' : undefined);
    const two = begin(t, step);
    const undone = ['begun', 'sealed', 'aborted'].includes(step);
    assert.equal(moving.abortMove(two.control, { ...two.ref, error: 'why' }), undone ? 'aborted' : step);
    assert.equal(moving.switchMove(two.control, { ...two.ref, cell: 'a' }), false);
    assert.equal(readPlacement(two.control, two.organisationId), undefined);
  });
}

test('CELL-11: of two drivers only the one that saw the row as it is gets on', (t) => {
  const { control, organisationId, ref, move } = begin(t);
  const seenAtMs = move.updatedAtMs;
  assert.equal(moving.claimMove(control, { ...ref, seenAtMs }), true);
  assert.equal(moving.claimMove(control, { ...ref, seenAtMs }), false);
  assert.equal(moving.advanceMove(control, { ...ref, from: 'begun', to: 'sealed' }), true);
  assert.equal(moving.advanceMove(control, { ...ref, from: 'begun', to: 'sealed' }), false);
  moving.noteMove(control, { ...ref, step: 'begun', error: 'late' });
  assert.equal(readMove(control, organisationId)?.error, null);
  moving.noteMove(control, { ...ref, step: 'sealed', error: 'now' });
  moving.noteMove(control, { ...ref, step: 'sealed' });
  assert.equal(readMove(control, organisationId)?.error, 'now');
  const copy = { bytes: 2, rows: 3, uploads: 4, uploadBytes: 5 };
  moving.noteMove(control, { ...ref, step: 'sealed', copy });
  assert.equal(moving.switchMove(control, { ...ref, cell: 'a' }), true);
  assert.equal(moving.switchMove(control, { ...ref, cell: 'a' }), false);
  const after = readMove(control, organisationId) as MoveRow;
  assert.deepEqual([after.step, after.error, after.copy], ['switched', null, copy]);
});

test('CELL-11: an organisation is moved from where it lives, to one cell at a time', (t) => {
  const { control, organisationId, input, move } = begin(t);
  assert.equal(moving.beginMove(control, { ...input, nonce: 'ffffffffffffffff' }).moveId, move.moveId);
  refuses('conflict', () => moving.beginMove(control, { ...input, targetCell: 'c' }));
  refuses('not_found', () => moving.beginMove(control, { ...input, organisationId: 'org_000000000000000000000009' }));
  placing.placeOrganisation(control, { organisationId, cell: 'z', version: 9, nowMs: NOW });
  refuses('conflict', () => moving.beginMove(control, input));
});

/** What an organisation of another cell needs to come here. */
function offer(t: TestContext) {
  const from = openFiles(t, NOW);
  const { control } = openFiles(t, NOW);
  const { organisationId } = from;
  const move = moving.beginMove(from.control, { organisationId, cell: 'a', targetCell: 'b', nonce: NONCE, nowMs: NOW });
  const ref = { organisationId, moveId: move.moveId, nowMs: NOW };
  return {
    from,
    control,
    organisationId,
    ref,
    rows: readControlRows(from.control, organisationId),
    input: { ...ref, sourceCell: 'a', cell: 'b' },
  };
}

test('CELL-13: what has arrived is the other cell’s until it is placed here', (t) => {
  const { control, organisationId, ref, rows, input } = offer(t);
  assert.equal(arriving.offerArrival(control, input), 'receiving');
  assert.equal(arriving.offerArrival(control, input), 'receiving');
  assert.equal(arriving.settleArrival(control, ref), false);
  assert.equal(arriving.adoptArrival(control, { ...ref, rows }), true);
  assert.equal(arriving.adoptArrival(control, { ...ref, rows: {} }), true);
  assert.deepEqual(readControlRows(control, organisationId), rows);
  assert.deepEqual([readPlacement(control, organisationId)?.cell, readPlacement(control, organisationId)?.version], ['a', 0]);
  refuses('conflict', () => moving.beginMove(control, { organisationId, cell: 'b', targetCell: 'c', nonce: NONCE, nowMs: NOW }));
  // Whatever noted meanwhile that it has gone from here.
  control
    .statement(
      `INSERT INTO moves (organisation_id, move_id, target_cell, step, started_at_ms, updated_at_ms)
       VALUES (:organisationId, 'mov_x', 'a', 'done', 1, 1)`,
    )
    .run({ organisationId });
  assert.equal(arriving.settleArrival(control, ref), true);
  assert.equal(readMove(control, organisationId), undefined);
  assert.equal(arriving.discardArrival(control, ref), 'unsealed');
});

test('CELL-13: an arrival that was called off never comes, and an earlier move is refused for a later one', (t) => {
  const { control, organisationId, ref, rows, input } = offer(t);
  arriving.offerArrival(control, input);
  assert.equal(arriving.discardArrival(control, ref), 'discarded');
  assert.equal(arriving.adoptArrival(control, { ...ref, rows }), false);
  refuses('conflict', () => arriving.offerArrival(control, input));
  const later = { ...input, moveId: input.moveId.replace('mov_0000000000', 'mov_0000000001') };
  assert.equal(arriving.offerArrival(control, later), 'receiving');
  refuses('conflict', () => arriving.offerArrival(control, input));
  assert.equal(arriving.discardArrival(control, ref), undefined);
  assert.equal(arriving.adoptArrival(control, { ...ref, rows }), false);
  assert.equal(readArrival(control, organisationId)?.step, 'receiving');
});

test('CELL-13: nothing arrives where the organisation lives, or has not been put away', (t) => {
  const { from, organisationId, input } = offer(t);
  const { control } = from;
  const here = { ...input, moveId: input.moveId.replace('mov_0000000000', 'mov_0000000005'), sourceCell: 'b', cell: 'a' };
  for (const [step, code] of [
    ['begun', 'internal'],
    ['switched', 'internal'],
    ['aborted', 'conflict'],
    ['done', 'conflict'],
  ] as const) {
    control.statement('UPDATE moves SET step = :step').run({ step });
    refuses(code, () => arriving.offerArrival(control, here));
  }
  placing.placeOrganisation(control, { organisationId, cell: 'b', version: 1, nowMs: NOW });
  assert.equal(arriving.offerArrival(control, here), 'receiving');
});

for (const step of MOVE_STEPS) {
  test(`CELL-15: what goes through all organisations ${['switched', 'done'].includes(step) ? 'leaves out' : 'finds'} one whose move is at ${step}`, (t) => {
    const { control, organisationId } = begin(t, step);
    assert.equal([...organisationIds(control)].includes(organisationId), !['switched', 'done'].includes(step));
  });
}

test('CELL-15: an organisation that lives elsewhere although nobody moved it from here is stranded until that is noted', (t) => {
  const { control, organisationId } = openFiles(t, NOW);
  assert.deepEqual(listStranded(control, 'a'), []);
  placing.placeOrganisation(control, { organisationId, cell: 'b', version: 1, nowMs: NOW });
  assert.deepEqual(listStranded(control, 'b'), [], 'at home');
  assert.deepEqual(listStranded(control, 'a'), [{ organisationId, cell: 'b', version: 1 }]);
  const moveId = goneMoveId(1, NOW);
  assert.ok(isMoveId(moveId) && isMoveId(goneMoveId(0, NOW)));
  moving.noteGone(control, { organisationId, moveId, cell: 'b', nowMs: NOW });
  assert.deepEqual(listStranded(control, 'a'), []);
  assert.deepEqual([...organisationIds(control)], []);
  assert.equal(readMove(control, organisationId)?.step, 'done');
});

test('CELL-15: an organisation that is on its way here is not stranded', (t) => {
  const { control, organisationId } = openFiles(t, NOW);
  placing.placeOrganisation(control, { organisationId, cell: 'b', version: 1, nowMs: NOW });
  control
    .statement(
      `INSERT INTO arrivals (organisation_id, move_id, source_cell, step, started_at_ms, updated_at_ms) VALUES (:organisationId, 'm', 'b', 'adopted', 0, 0)`,
    )
    .run({ organisationId });
  assert.deepEqual(listStranded(control, 'a'), []);
  assert.deepEqual([...organisationIds(control)], [], 'it takes no writes yet');
});
