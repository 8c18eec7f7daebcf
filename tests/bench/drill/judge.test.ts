import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type Evidence, judge, LOSS_MAX_MS, NEWCOMER_MS, ON_THE_WAY_MS } from '../../../bench/drill/judge.ts';
import { mintId } from '../../../protocol/ids.ts';
import { dataLayout } from '../../../storage/data-layout.ts';
import { controlMigrations } from '../../../storage/migrations/control.ts';
import { migrate } from '../../../storage/migrations/migrate.ts';
import { organisationMigrations } from '../../../storage/migrations/organisation.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const ORGANISATION = mintId('org', 1);
const BURNT_AT_MS = 1_000_000;

const insert = (table: string, columns: Readonly<Record<string, string | number>>) =>
  `INSERT INTO ${table} (${Object.keys(columns).join()}) VALUES (${Object.values(columns)
    .map((value) => (typeof value === 'string' ? `'${value}'` : value))
    .join()})`;

/** An app with one turn that was asked and answered. */
const WHOLE = [
  insert('apps', {
    id: 'app_a',
    name: 'A',
    slug: 'a',
    platform_hint: '',
    settings: '{}',
    live: 1,
    identity_secret: 'blob',
    created_at_ms: 1,
    updated_at_ms: 1,
  }),
  insert('conversations', { id: 'cnv_a', app_id: 'app_a', channel: 'live', device_id: 'd', epoch: 1, created_at_ms: 1, updated_at_ms: 1 }),
  insert('turns', {
    ...{
      id: 1,
      app_id: 'app_a',
      turn_id: 'turn-a',
      conversation_id: 'cnv_a',
      kind: 'message',
      fingerprint: '',
      device_id: 'd',
      request: '{}',
    },
    ...{
      request_id: '',
      state: 'completed',
      attempt: 1,
      snapshot: '{}',
      model: 'm',
      attempt_seq: 0,
      next_seq: 1,
      opened_at_ms: 1,
      ended_at_ms: 2,
    },
  }),
  ...[2, 3].map((no) => insert('messages', { no, id: `msg_${no}`, ordinal: no, created_at_ms: 1 })),
  insert('blocks', { place: 3 * 1_024, id: 'blk_a', block_type: 'text', revision: 1, body: '{}' }),
]
  .join(';')
  .replace("'blob'", "x''");

/** What was found of a host whose files have one organisation and what `charges` adds. */
function evidence(t: TestContext, found: Partial<Evidence>, charges = ''): Evidence {
  const layout = dataLayout(temporaryDir(t));
  mkdirSync(dirname(layout.organisation(ORGANISATION)), { recursive: true });
  const control = openWriter(layout.control);
  migrate(control, controlMigrations, 'control');
  control.exec(`INSERT INTO organisations VALUES ('${ORGANISATION}', 'Drilled', 'free', '[]', '{}', 1)`);
  control.close();
  const db = openWriter(layout.organisation(ORGANISATION));
  migrate(db, organisationMigrations, 'organisation');
  db.exec(charges);
  db.close();
  const none = { acknowledged: [], burntAtMs: BURNT_AT_MS, calls: new Map() };
  return { dataDir: layout.dir, organisationId: ORGANISATION, ...none, ...found };
}

describe('REPLICA-11: a drill tells what was lost from what must never be', () => {
  test('what was acknowledged just before the loss may be gone, and is counted with its age', (t) => {
    const acknowledged = [
      { kind: 'organisation', id: ORGANISATION, atMs: 1 },
      { kind: 'turn', id: 'a', atMs: BURNT_AT_MS - 900 },
      { kind: 'confirmation', id: 'b', atMs: BURNT_AT_MS - 1_100 },
    ] as const;
    const { lost, violations, acknowledgedBefore } = judge(evidence(t, { acknowledged }));
    assert.deepEqual(violations, []);
    assert.equal(acknowledgedBefore, 3);
    assert.deepEqual(
      lost.map(({ id, ageMs }) => [id, ageMs]),
      [
        ['b', 1_100],
        ['a', 900],
      ],
    );
  });

  test('what is older, and what was acknowledged after the loss, has to be there', (t) => {
    const acknowledged = [
      { kind: 'turn', id: 'old', atMs: BURNT_AT_MS - LOSS_MAX_MS - 1 },
      { kind: 'organisation', id: 'late', atMs: BURNT_AT_MS + ON_THE_WAY_MS + 1 },
    ] as const;
    const { violations } = judge(evidence(t, { acknowledged }));
    assert.equal(violations.length, 2);
    assert.match(violations.join(), /turn old was acknowledged 3001 ms before .* is lost/);
    assert.match(violations.join(), /organisation late was acknowledged 501 ms after the host was lost, and is not there/);
  });

  test('an organisation is kept with its app and a whole turn, and a turn with its conversation and messages', (t) => {
    const atMs = BURNT_AT_MS - LOSS_MAX_MS - NEWCOMER_MS - 1;
    const acknowledged = [
      { kind: 'organisation', id: ORGANISATION, atMs, with: ['app_a', 'turn-a'] },
      { kind: 'turn', id: 'turn-a', atMs },
    ] as const;
    const lost = (rows: string) => judge(evidence(t, { acknowledged }, rows)).lost.map(({ kind }) => kind);
    assert.deepEqual(lost(WHOLE), []);
    for (const [gone, kinds] of [
      ['DELETE FROM blocks', ['organisation', 'turn']],
      ['DELETE FROM messages WHERE no = 2', ['organisation', 'turn']],
      ['DELETE FROM conversations', ['organisation', 'turn']],
      ['DELETE FROM apps', ['organisation']],
    ] as const)
      assert.deepEqual(lost(`${WHOLE}; PRAGMA foreign_keys = OFF; ${gone}`), kinds, gone);
  });

  test('a call that was made twice, and money that does not add up, are violations', (t) => {
    const calls = new Map([
      ['once', 1],
      ['twice', 2],
    ]);
    const charge = "INSERT INTO charges VALUES (7, 'app_a', 'live', 'm', 1, 1, 5, 1)";
    const { violations } = judge(evidence(t, { calls }, charge));
    assert.deepEqual(violations, [
      'the call twice reached the backend 2 times',
      '1 charges have no turn',
      '5 millionths of a dollar lie between charges and daily sums',
    ]);
  });
});
