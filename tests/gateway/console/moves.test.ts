import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Cells } from '../../../actors/cells/cells.ts';
import type { OrganisationMoves } from '../../../actors/cells/move.ts';
import { moveRoutes } from '../../../gateway/console/moves.ts';
import type { Route } from '../../../gateway/route.ts';
import type { Services } from '../../../gateway/services.ts';
import { organisationMove } from '../../../machines/organisation-move.ts';
import { replay } from '../../../machines/replay.ts';
import { readTraceFile } from '../../../machines/trace-file.ts';
import { timestamp } from '../../../protocol/timestamp.ts';
import type { MoveRow } from '../../../storage/moving/moves.ts';
import { StorageError } from '../../../storage/sqlite/storage-error.ts';
import { arriveAt, openFixture, type TestCell, upload } from '../../actors/cells/move-fixture.ts';
import { createOperator } from '../../support/client.ts';
import { serve } from '../test-server.ts';

const OPERATOR_TOKEN = 'operator-token-of-these-tests';
const config = { publicUrl: undefined, operatorToken: OPERATOR_TOKEN, allowPrivateAddresses: false };

interface Shown {
  readonly move: {
    readonly step: string;
    readonly source_cell: string;
    readonly target_cell: string;
    readonly copy: { readonly rows: number } | null;
  } | null;
}

test('CONSOLE-24: a move is asked for, and shown on both cells as far as it has come', async (t) => {
  const fixture = await openFixture(t);
  const { a, b, organisationId } = fixture;
  await upload(a, fixture, Buffer.alloc(5_000_000));
  const leaving = a.node();
  const consoles = await Promise.all(
    [
      { storage: a.storage, moves: { leaving, arriving: a.arriving } },
      { storage: b.storage, moves: { leaving: b.node(), arriving: b.arriving } },
    ].map(async (services) =>
      createOperator((await serve(t, moveRoutes, { ...services, config } as Partial<Services>)).base, OPERATOR_TOKEN),
    ),
  );
  const [onA, onB] = consoles as [(typeof consoles)[0], (typeof consoles)[0]];
  const path = `/orgs/${organisationId}/move`;
  assert.deepEqual((await onA('GET', path)).json, { move: null });
  assert.equal((await onA('POST', path, { cell: 'not a cell' })).status, 400);
  assert.equal((await onA('POST', path, { cell: 'nowhere' })).status, 404);
  assert.equal((await onA('POST', `${path}/abort`)).status, 404);
  const begun = await onA('POST', path, { cell: 'b' });
  assert.equal(begun.status, 202);
  const { pause } = begun.json as { readonly pause: { readonly bytes: number; readonly seconds: number } };
  assert.ok(pause.bytes >= 5_000_000 && pause.seconds >= 1, 'how long its writes wait is said beforehand, by its size');
  const { updatedAtMs, ...row } = leaving.read(organisationId) as MoveRow;
  assert.ok(updatedAtMs > 0);
  assert.deepEqual((begun.json as Shown).move, {
    organisation_id: organisationId,
    move_id: row.moveId,
    source_cell: 'a',
    target_cell: 'b',
    step: 'begun',
    error: null,
    copy: null,
    started_at: timestamp(row.startedAtMs),
    updated_at: timestamp(row.startedAtMs),
  });
  await arriveAt(leaving, organisationId, 'done');
  const [there, here] = [(await onA('GET', path)).json as Shown, (await onB('GET', path)).json as Shown];
  assert.deepEqual([there.move?.step, there.move?.source_cell, there.move?.target_cell], ['done', 'a', 'b']);
  assert.ok((there.move?.copy?.rows ?? 0) > 0);
  assert.deepEqual([here.move?.step, here.move?.source_cell, here.move?.target_cell, here.move?.copy], ['done', 'a', 'b', null]);
  const late = await onA('POST', `${path}/abort`);
  assert.equal(late.status, 409);
  assert.match(JSON.stringify(late.json), /Move it back/);
});

/** The one trace of the organisation's last move from this cell, replayed to the same steps. */
async function provenMove(t: TestContext, cell: TestCell, leaving: OrganisationMoves, organisationId: string) {
  const services = { storage: cell.storage, moves: { leaving, arriving: cell.arriving }, config } as Partial<Services>;
  const ask = createOperator((await serve(t, moveRoutes, services)).base, OPERATOR_TOKEN);
  const { json, text, status } = await ask('GET', `/orgs/${organisationId}/move/trace`);
  assert.equal(status, 200, text);
  const [only] = (json as { readonly traces: readonly { readonly trace: unknown }[] }).traces;
  const trace = readTraceFile(JSON.stringify(only?.trace));
  assert.deepEqual(replay(organisationMove, trace), { same: trace.steps.length, difference: null });
  assert.ok(trace.definition !== undefined);
  return trace;
}

test('TRACE-1, TRACE-9: the steps of a move are kept with its row, and read on the cell that it left', async (t) => {
  const { a, b, organisationId } = await openFixture(t);
  const leaving = a.node();
  const { base } = await serve(t, moveRoutes, {
    storage: a.storage,
    moves: { leaving, arriving: a.arriving },
    config,
  } as Partial<Services>);
  const before = await createOperator(base, OPERATOR_TOKEN)('GET', `/orgs/${organisationId}/move/trace`);
  assert.equal(before.status, 404);
  const { moveId } = await leaving.begin(organisationId, 'b');
  await arriveAt(leaving, organisationId, 'done');
  const trace = await provenMove(t, a, leaving, organisationId);
  assert.equal(trace.instance, moveId);
  assert.deepEqual(
    trace.steps.map(({ event, to }) => [event.type, to]),
    [
      ['move.resumed', 'begun'],
      ['source.sealed', 'sealed'],
      ['target.adopted', 'switched'],
      ['source.emptied', 'done'],
    ],
  );
  // It comes back and goes again: of each cell the last move is kept.
  const back = b.node();
  await back.begin(organisationId, 'a');
  await arriveAt(back, organisationId, 'done');
  const again = await leaving.begin(organisationId, 'b');
  await arriveAt(leaving, organisationId, 'done');
  assert.equal((await provenMove(t, a, leaving, organisationId)).instance, again.moveId);
  assert.equal(a.storage.control.statement('SELECT count(DISTINCT move_id) AS n FROM move_traces').get()?.n, 1);
});

test('TRACE-1: a move that is aborted keeps the step that did it, wherever it was', async (t) => {
  const { a, organisationId } = await openFixture(t);
  const leaving = a.node({ times: { quietMs: 60_000 }, isAlive: () => true });
  await leaving.begin(organisationId, 'b');
  await leaving.abort(organisationId);
  const { steps } = await provenMove(t, a, leaving, organisationId);
  assert.deepEqual([steps.at(-1)?.event.type, steps.at(-1)?.to], ['move.aborted', 'aborted']);
});

test('CONSOLE-24: a cell that has nothing to do with the move asks the one on which the organisation lives', async (t) => {
  const { a, organisationId } = await openFixture(t);
  const leaving = a.node();
  await leaving.begin(organisationId, 'b');
  await arriveAt(leaving, organisationId, 'done');
  const c = { leaving: { read: () => undefined }, arriving: { read: () => undefined } } as unknown as NonNullable<Services['moves']>;
  const cellsOf = (at: string) =>
    ({
      self: { id: 'c' },
      client: a.client,
      directory: { whereabouts: () => ({ organisationId, cell: at, version: 1 }) },
    }) as unknown as Cells;
  const ask = async (at: string) => {
    const { base } = await serve(t, [moveRoutes[1] as Route], {
      storage: a.storage,
      config,
      moves: c,
      cells: at === '' ? null : cellsOf(at),
    });
    return createOperator(base, OPERATOR_TOKEN)('GET', `/orgs/${organisationId}/move`);
  };
  assert.equal(((await ask('b')).json as Shown).move?.step, 'done');
  assert.equal((await ask('nowhere')).status, 503);
  assert.deepEqual((await ask('c')).json, { move: null });
});

test('CONSOLE-24: an installation with one cell says that there is nowhere to move to', async (t) => {
  const { storage } = (await openFixture(t)).a;
  const { base } = await serve(t, moveRoutes, { storage, config, moves: null });
  const answer = await createOperator(base, OPERATOR_TOKEN)('POST', '/orgs/org_000000000000000000000001/move', { cell: 'b' });
  assert.equal(answer.status, 409);
  assert.match(JSON.stringify(answer.json), /CELL_ID/);
});

test('CONSOLE-25: a write to an organisation that is being moved is told to come again, and why', async (t) => {
  const route = { ...moveRoutes[0], method: 'POST', path: '/v1/x', caller: 'anyone', body: undefined } as unknown as (typeof moveRoutes)[0];
  const sealed = { ...route, handle: () => Promise.reject(new StorageError('sealed', 'the writer’s own words')) };
  const { base } = await serve(t, [sealed]);
  const answer = await fetch(`${base}/v1/x`, { method: 'POST' });
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get('retry-after'), '2');
  assert.deepEqual(await answer.json(), {
    error: { code: 'internal', message: 'The organisation is being moved to another cell. Send the request again in a few seconds.' },
  });
});
