/**
 * An organisation of the `scale` plan's size, written straight into its file: 200,000 people, 10⁶ conversations of one turn each,
 * one person with 10,000 of them, one conversation with long messages, feedback, ratings, uploads, calls, charges. To be called
 * while nothing has the data directory open; takes some minutes and 3 GB.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Blocks are 64 KB at most; history pages have 200 messages. */
const LONG_MESSAGES = 200;
const LONG_BLOCK_CHARS = 60_000;

export interface LargePlan {
  readonly people: number;
  readonly conversations: number;
  /** How many of the conversations belong to one person. */
  readonly conversationsOfOne: number;
}

export const SCALE_PLAN: LargePlan = { people: 200_000, conversations: 1_000_000, conversationsOfOne: 10_000 };

/** Ids of what the reads ask for. */
export const BUSY_PERSON = 'usr_busy00000000000000000000';
export const LONG_CONVERSATION = 'cnv_long00000000000000000000';
export const LONG_DEVICE = 'e'.repeat(32);

/** SQL for the number of the i-th message of the long conversation. */
const LONG_NUMBER = `((SELECT id FROM turns WHERE app_id = :app AND turn_id = 'turn_long' || ((i + 1) / 2)) * 2 + (i + 1) % 2)`;

/** Statements in order; `:n` rows of `n(i)` each. Times fall back over 120 days, so that some lie outside of every window. */
const FILL: readonly (readonly [keyof LargePlan | number, string])[] = [
  [
    'people',
    `INSERT INTO end_users (id, app_id, channel, external_user_id, verified, created_at_ms, updated_at_ms)
     SELECT printf('usr_%024d', i), :app, 'live', 'person-' || i, 1, :now - i, :now - i FROM n`,
  ],
  [
    'people',
    `INSERT INTO devices (app_id, channel, device_id, seen_at_ms, end_user_id, proven, bound_at_ms)
     SELECT :app, 'live', printf('%032x', i), :now - (i % 120) * :day, iif(i % 2, printf('usr_%024d', i), NULL), i % 2, :now FROM n`,
  ],
  [
    'conversations',
    `INSERT INTO conversations (id, app_id, channel, device_id, end_user_id, epoch, owner, created_at_ms, updated_at_ms)
     SELECT printf('cnv_%024d', i), :app, 'live', printf('%032x', i % :people), iif(i % 2, printf('usr_%024d', 1 + i % :people), NULL),
       1, '', :now - i * 10000, :now - i * 10000 FROM n`,
  ],
  [
    'conversationsOfOne',
    `INSERT INTO conversations (id, app_id, channel, device_id, end_user_id, epoch, owner, created_at_ms, updated_at_ms)
     SELECT printf('cnv_busy%020d', i), :app, 'live', :longDevice, '${BUSY_PERSON}', 1, '', :now - i, :now - i FROM n`,
  ],
  ...['conversations', 'conversationsOfOne'].flatMap((kind) => {
    const prefix = kind === 'conversations' ? '%024d' : 'busy%020d';
    const id = (name: string) => `printf('${name}_${prefix}', i)`;
    const rows = kind as keyof LargePlan;
    return [
      [
        rows,
        `INSERT INTO turns (app_id, turn_id, conversation_id, kind, fingerprint, device_id, request, request_id, state, attempt, snapshot,
           model, attempt_seq, next_seq, opened_at_ms, ended_at_ms)
         SELECT :app, ${id('turn')}, ${id('cnv')}, 'message', '', '', '{}', '', 'done', 1, '{}', 'offline', 0, 5, :now - i, :now - i FROM n`,
      ] as const,
      ...[1, 2].flatMap((ordinal) => {
        const number = `(SELECT id * 2 + ${ordinal - 1} FROM turns WHERE app_id = :app AND turn_id = ${id('turn')})`;
        return [
          [
            rows,
            `INSERT INTO messages (no, id, ordinal, created_at_ms)
             SELECT ${number}, printf('msg_${prefix}', i * 2 + ${ordinal}), ${ordinal}, :now - i FROM n`,
          ],
          [
            rows,
            `INSERT INTO blocks (place, id, block_type, revision, body)
             SELECT ${number} * 1024, printf('blk_${prefix}', i * 2 + ${ordinal}), 'text', 1, '{"md":"What was said here."}' FROM n`,
          ],
        ] as const;
      }),
    ];
  }),
  [
    'people',
    `INSERT INTO feedback (message_id, device_id, app_id, conversation_id, channel, rating, created_at_ms, updated_at_ms)
     SELECT printf('msg_%024d', i * 2 + 2), printf('%032x', i), :app, printf('cnv_%024d', i), 'live', 1, :now - i, :now - i FROM n`,
  ],
  [
    'people',
    `INSERT INTO ratings (block_id, message_id, app_id, conversation_id, channel, value, created_at_ms)
     SELECT printf('blk_%024d', i * 2 + 2), printf('msg_%024d', i * 2 + 2), :app, printf('cnv_%024d', i), 'live', 4, :now - i FROM n`,
  ],
  [
    'people',
    `INSERT INTO uploads (id, app_id, channel, device_id, name, media_type, size, created_at_ms, message_id, position)
     SELECT printf('upl_%024d', i), :app, 'live', printf('%032x', i), 'a.png', 'image/png', 1000, :now, printf('msg_%024d', i * 2 + 1), 0 FROM n`,
  ],
  [
    'people',
    `INSERT INTO invocations (id, app_id, conversation_id, turn, message_id, ordinal, call_id, name, params, risk, executor, timeout_ms,
       state, requested_at_ms, settled_at_ms)
     SELECT printf('inv_%024d', i), :app, printf('cnv_%024d', i), i, printf('msg_%024d', i * 2 + 2), 0, 'c', 'look', '{}', 'read', 'client',
       1000, 'succeeded', :now - i, :now - i FROM n`,
  ],
  [
    'conversations',
    `INSERT INTO charges (turn, app_id, channel, model, input_tokens, output_tokens, cost_microusd, at_ms)
     SELECT i, :app, 'live', 'offline', 100, 100, 10, :now - i FROM n`,
  ],
  [
    120,
    `INSERT OR REPLACE INTO usage_days (app_id, channel, day, turns, conversations, cost_microusd)
     SELECT :app, 'live', date(:now / 1000 - i * 86400, 'unixepoch'), 8000, 8000, 80000 FROM n`,
  ],
  [
    LONG_MESSAGES / 2,
    `INSERT INTO turns (app_id, turn_id, conversation_id, kind, fingerprint, device_id, request, request_id, state, attempt, snapshot,
       model, attempt_seq, next_seq, opened_at_ms, ended_at_ms)
     SELECT :app, 'turn_long' || i, '${LONG_CONVERSATION}', 'message', '', '', '{}', '', 'done', 1, '{}', 'offline', 0, 5, :now + i, :now + i FROM n`,
  ],
  [
    LONG_MESSAGES,
    `INSERT INTO messages (no, id, ordinal, created_at_ms)
     SELECT ${LONG_NUMBER}, printf('msg_long%020d', i), i, :now + i FROM n`,
  ],
  [
    LONG_MESSAGES,
    `INSERT INTO blocks (place, id, block_type, revision, body)
     SELECT ${LONG_NUMBER} * 1024, printf('blk_long%020d', i), 'text', 1,
       json_object('md', replace(hex(zeroblob(${LONG_BLOCK_CHARS / 20})), '00', 'ten chars ')) FROM n`,
  ],
];

export interface LargeIds {
  readonly organisationId: string;
  readonly appId: string;
  /** An app of the same organisation with nothing in it: its lists must not go through the rows of the other one. */
  readonly quietAppId: string;
}

/** Fills the organisation's file; `told` hears of each statement. */
export function fillOrganisation(dataDir: string, ids: LargeIds, plan: LargePlan, nowMs: number, told: (step: string) => void): void {
  const db = new Database(join(dataDir, 'organisations', `${ids.organisationId}.sqlite`));
  db.pragma('synchronous = OFF');
  db.pragma('foreign_keys = OFF');
  db.pragma('cache_size = -400000');
  const values = { app: ids.appId, now: nowMs, day: DAY_MS, people: plan.people, longDevice: LONG_DEVICE };
  const one = `INSERT INTO end_users (id, app_id, channel, external_user_id, verified, created_at_ms, updated_at_ms)
    VALUES ('${BUSY_PERSON}', :app, 'live', 'busy', 1, :now, :now)`;
  const long = `INSERT INTO conversations (id, app_id, channel, device_id, end_user_id, epoch, owner, created_at_ms, updated_at_ms)
    VALUES ('${LONG_CONVERSATION}', :app, 'live', :longDevice, NULL, 1, '', :now, :now)`;
  for (const sql of [one, long]) db.prepare(sql).run(values);
  for (const [rows, sql] of FILL) {
    const count = typeof rows === 'number' ? rows : plan[rows];
    const startedMs = performance.now();
    db.prepare(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows) ${sql}`).run({ ...values, rows: count });
    told(`${count} × ${sql.slice(12, 40).trim()} in ${Math.round(performance.now() - startedMs)} ms`);
  }
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}
