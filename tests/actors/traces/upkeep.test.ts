/** Bounds of traces, on real storage. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { currentDefinitions } from '../../../actors/traces/definitions.ts';
import { TraceUpkeep } from '../../../actors/traces/upkeep.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { packedSteps } from '../../../storage/traces/packed-steps.ts';
import { insertTurnTrace, missingDefinitions, readMachineDefinition } from '../../../storage/traces/traces.ts';
import { openFixture } from '../billing/fixture.ts';

const DAY_MS = 86_400_000;
const TRACE = { version: 'v', steps: 'x'.repeat(904) };
/** With what a row takes beside its steps. */
const PIECE_BYTES = packedSteps(TRACE.steps).length + 96;

async function fixture(t: TestContext) {
  const { storage, organisationId, nowMs } = await openFixture(t);
  const turns = () =>
    storage
      .organisation(organisationId)
      .statement('SELECT DISTINCT turn FROM turn_traces ORDER BY turn')
      .all()
      .map(({ turn }) => turn);
  return {
    db: () => storage.organisation(organisationId),
    turns,
    /** `pieces` of each turn from 1 on, the last one written now, each before it a day earlier. */
    store(count: number, pieces: number) {
      const writer = openWriter(storage.layout.organisation(organisationId), { mustExist: true });
      for (let turn = 1; turn <= count; turn++) {
        const atMs = nowMs() - (count - turn) * DAY_MS;
        for (let piece = 0; piece < pieces; piece++) insertTurnTrace(writer, { turn, invocation: '', node: 'n', nowMs: atMs }, TRACE);
      }
      writer.close();
    },
    upkeep: (bounds: { days: number; bytes: number }, now = nowMs) =>
      new TraceUpkeep({ storage, nowMs: now, log: pino({ level: 'silent' }) }, bounds),
    organisationId,
    keep(bounds: { days: number; bytes: number }) {
      return this.upkeep(bounds).tidy(organisationId);
    },
    nowMs,
  };
}

test('TRACE-5: turns older than the bound leave, with all of their pieces', async (t) => {
  const it = await fixture(t);
  const { store, turns } = it;
  const keep = it.keep.bind(it);
  store(5, 3);
  await keep({ days: 2, bytes: 1_000_000 });
  assert.deepEqual(turns(), [3, 4, 5]);
});

test('TRACE-5: the newest turns within the bytes stay, and a turn is kept whole or not at all', async (t) => {
  const it = await fixture(t);
  const { store, turns } = it;
  const keep = it.keep.bind(it);
  store(5, 2);
  await keep({ days: 99, bytes: (5 * PIECE_BYTES) / 0.75 });
  assert.deepEqual(turns(), [4, 5]);
});

test('TRACE-5: more than one transaction deletes are gone after one pass', async (t) => {
  const it = await fixture(t);
  const { store, turns } = it;
  const keep = it.keep.bind(it);
  store(2, 1_200);
  await keep({ days: 99, bytes: 1 });
  assert.deepEqual(turns(), []);
});

test('TRACE-6: each definition of this release is kept under its version, once', async (t) => {
  const it = await fixture(t);
  const { db } = it;
  const keep = it.keep.bind(it);
  assert.ok(missingDefinitions(db(), currentDefinitions()).length > 0);
  await keep({ days: 1, bytes: 1 });
  assert.deepEqual(missingDefinitions(db(), currentDefinitions()), []);
  for (const { version, definition } of currentDefinitions()) assert.equal(readMachineDefinition(db(), version), definition);
});

test('TRACE-5: bounds are held once an hour, and as soon as a trace is too old: the file need not be open until then', async (t) => {
  const { store, turns, upkeep, organisationId, nowMs } = await fixture(t);
  let now = nowMs();
  const it = upkeep({ days: 2, bytes: 3 * PIECE_BYTES * (4 / 3) }, () => now);
  assert.equal(it.next(organisationId), null);
  await it.tidy(organisationId);
  store(3, 2);
  await it.tidy(organisationId);
  assert.deepEqual(turns(), [1, 2, 3], 'within the hour');
  now += 3_600_000;
  await it.tidy(organisationId);
  assert.deepEqual(turns(), [3], 'the bytes');
  const dueAtMs = it.next(organisationId) ?? 0;
  assert.equal(dueAtMs, nowMs() + 2 * DAY_MS + 1);
  now = dueAtMs;
  await it.tidy(organisationId);
  assert.deepEqual([turns(), it.next(organisationId)], [[], null], 'the age');
});
