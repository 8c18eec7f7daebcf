/** Whose a turn is, and which conversation it goes on with (PERSON-6, KEY-7). */
import { Refusal } from '../../protocol/errors.ts';
import { readConversation } from '../../storage/conversations/conversations.ts';
import { readTurn, type TurnRow } from '../../storage/conversations/turns.ts';
import { readEndUser } from '../../storage/people/end-users.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { ownConversation } from '../people/ownership.ts';
import type { TurnCommand } from './command.ts';
import type { TurnCaller } from './host.ts';

/**
 * The conversation this turn goes on with, null for a new one. A thread that is not the caller's is not continued: a new one
 * opens, and a missing one is answered alike.
 * @throws Refusal `invalid_request` when there is nothing to answer in a new one.
 */
export function continuedConversation(db: Connection, command: TurnCommand): string | null {
  const { app, body, channel, deviceId, person } = command;
  const id = body.conversation_id ?? null;
  if (id === null) return null;
  const row = readConversation(db, id);
  const endUserId = person === null ? null : readEndUser(db, app.id, channel, person.externalUserId)?.id;
  const isTheirs =
    row !== undefined &&
    row.appId === app.id &&
    row.channel === channel &&
    (person === null ? row.endUserId === null && row.deviceId === deviceId : row.endUserId === endUserId);
  if (isTheirs) return id;
  if (body.message !== undefined) return null;
  throw new Refusal('invalid_request', 'conversation_id names no conversation of this caller, so there is nothing to answer in it.');
}

/**
 * The turn, for the device that sent it and for whoever its conversation is (PERSON-13, PERSON-15).
 * @throws Refusal 404: one answer for a missing turn and for a stranger's.
 */
export function theirTurn(db: Connection, caller: TurnCaller, turnId: string): TurnRow {
  const row = readTurn(db, caller.appId, turnId);
  const conversationId = row?.conversationId ?? '';
  // Both are asked whatever the other says, see ownership.ts.
  const isOwn = ownConversation(db, conversationId, caller) !== undefined;
  const channelOfTurn = readConversation(db, conversationId)?.channel;
  const isSender = row?.deviceId === caller.deviceId && channelOfTurn === caller.channel;
  if (row === undefined || !(isOwn || isSender)) {
    throw new Refusal('invalid_request', 'There is no such turn of this device.', { status: 404 });
  }
  return row;
}
