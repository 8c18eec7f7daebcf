/** People, their devices and what they said, in an organisation's file. */

import { mintId } from '../../../protocol/ids.ts';
import { recordCharge } from '../../../storage/billing/usage-ledger.ts';
import { insertBlocks } from '../../../storage/conversations/blocks.ts';
import { insertInvocations } from '../../../storage/conversations/invocations.ts';
import { insertJournal } from '../../../storage/conversations/turns.ts';
import { type IdentifyInput, type IdentifyOutcome, readEndUser, transactions } from '../../../storage/people/end-users.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { insertTurnTrace } from '../../../storage/traces/traces.ts';
import { storeConversation, storeTurn } from '../conversations/stored-turns.ts';

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
  storeConversation(db, { id: conversationId, appId, channel, deviceId, endUserId, epoch: 7, atMs });
  const [asked, messageId, blockId] = [mintId('msg', atMs), mintId('msg', atMs), mintId('blk', atMs)];
  const turn = storeTurn(db, { appId, conversationId, turnId: conversationId, asked, answer: messageId, atMs });
  insertBlocks(db, conversationId, messageId, [
    { id: blockId, position: 0, blockType: 'text', revision: 1, body: '{}', fallbackText: null },
  ]);
  insertJournal(db, turn, 0, '[]');
  insertTurnTrace(db, { turn, invocation: '', node: '', nowMs: atMs }, { version: 'v', steps: '{}' });
  const call = { id: mintId('inv', atMs), callId: 'c', name: 'a', params: '{}', risk: 'read', executor: 'client', timeoutMs: 1 } as const;
  const owner = { appId, conversationId, turn, messageId, nowMs: 1 };
  insertInvocations(db, owner, [{ ...call, state: 'succeeded', blockId: null, expiresAtMs: null }]);
  const charge = { model: 'm', inputTokens: 1, outputTokens: 1, costMicroUsd: 5, billed: true };
  recordCharge(db, { turn, attempt: 1, appId, channel, nowMs: 1 }, charge);
  return { conversationId, messageId, blockId };
}
