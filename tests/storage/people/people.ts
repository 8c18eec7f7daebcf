/** People, their devices and what they said, in an organisation's file. */
import { mintId } from '../../../protocol/ids.ts';
import { insertBlocks } from '../../../storage/conversations/blocks.ts';
import { type IdentifyInput, type IdentifyOutcome, readEndUser, transactions } from '../../../storage/people/end-users.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { insertTurnTrace } from '../../../storage/traces/traces.ts';
import { storeTurn } from '../conversations/stored-turns.ts';

export interface Said {
  readonly conversationId: string;
  readonly messageId: string;
  readonly blockId: string;
}

/** POST /v1/identify as the actors write it: reads the record first. */
export function identify(
  db: Connection,
  person: Pick<IdentifyInput, 'appId' | 'deviceId' | 'externalUserId'> & Partial<IdentifyInput>,
): { readonly id: string; readonly outcome: IdentifyOutcome } {
  const { appId, channel = 'live', externalUserId, nowMs = 1 } = person;
  const known = readEndUser(db, appId, channel, externalUserId);
  const id = known?.id ?? mintId('usr', nowMs);
  const more = { channel, endUserId: id, isNew: known === undefined, proven: false, traits: undefined, nowMs };
  return { id, outcome: transactions.identify(db, { ...more, ...person }) };
}

/** A conversation with one answered and charged turn, which made one call. */
export function converse(
  db: Connection,
  at: { appId: string; deviceId: string; channel?: 'live' | 'sandbox'; endUserId?: string | null; atMs?: number },
): Said {
  const { appId, deviceId, channel = 'live', endUserId = null, atMs = 1 } = at;
  const conversationId = mintId('cnv', atMs);
  db.statement(
    `INSERT INTO conversations (id, app_id, channel, device_id, end_user_id, epoch, created_at_ms, updated_at_ms)
     VALUES (:conversationId, :appId, :channel, :deviceId, :endUserId, 7, :atMs, :atMs)`,
  ).run({ conversationId, appId, channel, deviceId, endUserId, atMs });
  const [asked, messageId, blockId] = [mintId('msg', atMs), mintId('msg', atMs), mintId('blk', atMs)];
  const turn = storeTurn(db, { appId, conversationId, turnId: conversationId, asked, answer: messageId, atMs });
  insertBlocks(db, conversationId, messageId, [
    { id: blockId, position: 0, blockType: 'text', revision: 1, body: '{}', fallbackText: null },
  ]);
  db.statement("INSERT INTO turn_journal (turn, first_seq, entries) VALUES (:turn, 0, '[]')").run({ turn });
  insertTurnTrace(db, { turn, invocation: '', node: '', nowMs: atMs }, { version: 'v', steps: '{}' });
  db.statement(
    `INSERT INTO invocations (id, app_id, conversation_id, turn, message_id, ordinal, call_id, name, params, risk, executor, timeout_ms,
       state, requested_at_ms) VALUES (:id, :appId, :conversationId, :turn, :messageId, 0, 'c', 'a', '{}', 'read', 'client', 1, 'succeeded', 1)`,
  ).run({ id: mintId('inv', atMs), appId, conversationId, turn, messageId });
  db.statement(
    `INSERT INTO charges (turn, app_id, channel, model, input_tokens, output_tokens, cost_microusd, at_ms)
     VALUES (:turn, :appId, :channel, 'm', 1, 1, 5, 1)`,
  ).run({ turn, appId, channel });
  return { conversationId, messageId, blockId };
}
