/** Runs as they are kept, and what leaves with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { transactions as apps } from '../../../storage/apps/apps.ts';
import { insertBlocks } from '../../../storage/conversations/blocks.ts';
import { readLatestSmokeRun, SMOKE_RUNS_KEPT, type SmokeRun, smokeDevice, transactions } from '../../../storage/setup/smoke-runs.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { each } from '../../support/each.ts';
import { storeConversation, storeTurn } from '../conversations/stored-turns.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

function run(appId: string, atMs: number, more: Partial<SmokeRun> = {}): SmokeRun {
  return { id: mintId('run', atMs), appId, passed: true, platformFailure: false, answers: [], createdAtMs: atMs, ...more };
}

/** A conversation with one answered turn. */
function converse(db: Connection, appId: string, deviceId: string, atMs: number, channel: 'live' | 'sandbox' = 'sandbox'): string {
  const id = mintId('cnv', atMs);
  storeConversation(db, { id, appId, channel, deviceId, atMs });
  const messageId = mintId('msg', atMs);
  storeTurn(db, { appId, conversationId: id, turnId: id, answer: messageId, atMs });
  insertBlocks(db, id, messageId, [
    { id: mintId('blk', atMs), position: 0, blockType: 'text', revision: 1, body: '{}', fallbackText: null },
  ]);
  return id;
}

const ids = (db: Connection, table: string) =>
  db
    .statement(`SELECT id FROM ${table} ORDER BY id`)
    .all()
    .map((row) => row.id);

test('SMOKE-5: the latest run is the newest one of the app, with everything that was judged', (t) => {
  const files = openFiles(t, NOW);
  const [one, other] = [addApp(files, 'One', NOW), addApp(files, 'Other', NOW)];
  assert.equal(readLatestSmokeRun(files.db, one), undefined);
  const answers: SmokeRun['answers'] = [
    {
      question: 'Where?',
      from: 'suggestion',
      answer: 'Here.',
      grounded: false,
      actionBacked: true,
      ok: true,
      actions: ['find_shop'],
      error: { code: 'internal', message: 'It broke.' },
    },
  ];
  const latest = run(one, NOW + 5, { passed: false, platformFailure: true, answers });
  for (const saved of [run(one, NOW), latest, run(other, NOW + 9)]) transactions.saveSmokeRun(files.db, saved);
  assert.deepEqual(readLatestSmokeRun(files.db, one), latest);
});

test('SMOKE-5: the newest twenty runs of an app are kept', (t) => {
  const files = openFiles(t, NOW);
  const [one, other] = [addApp(files, 'One', NOW), addApp(files, 'Other', NOW)];
  transactions.saveSmokeRun(files.db, run(other, NOW));
  const runs = Array.from({ length: SMOKE_RUNS_KEPT + 3 }, (_, n) => run(one, NOW + n));
  for (const saved of runs) transactions.saveSmokeRun(files.db, saved);
  const kept = files.db.statement('SELECT id FROM smoke_runs WHERE app_id = :one ORDER BY id').all({ one });
  assert.deepEqual(
    each(kept, 'id'),
    runs.slice(3).map((each) => each.id),
  );
  assert.ok(readLatestSmokeRun(files.db, other) !== undefined);
});

test('SMOKE-2: saving a run removes what was said in it, also in one that a crash cut off, and nothing else', (t) => {
  const files = openFiles(t, NOW);
  const { db } = files;
  const [one, other] = [addApp(files, 'One', NOW), addApp(files, 'Other', NOW)];
  const stays = [
    converse(db, one, 'd'.repeat(32), NOW + 30),
    converse(db, one, '', NOW + 30),
    converse(db, one, smokeDevice('run_x'), NOW + 30, 'live'),
    converse(db, other, smokeDevice('run_y'), NOW + 30),
  ];
  transactions.saveSmokeRun(db, run(one, NOW));
  converse(db, one, smokeDevice('run_crashed'), NOW + 10);
  converse(db, one, smokeDevice('run_now'), NOW + 20);
  transactions.saveSmokeRun(db, run(one, NOW + 15));
  assert.deepEqual(ids(db, 'conversations'), stays.toSorted());
  for (const table of ['messages', 'blocks', 'turns']) assert.equal(ids(db, table).length, stays.length, table);
});

test('SMOKE-6: a run of an app that was deleted meanwhile is refused', (t) => {
  const files = openFiles(t, NOW);
  const appId = addApp(files, 'One', NOW);
  apps.deleteApp(files.db, { appId });
  assert.throws(() => transactions.saveSmokeRun(files.db, run(appId, NOW)), { code: 'not_found' });
});
