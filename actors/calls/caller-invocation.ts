/** A call that waits, or waited, for a person: whose it is, and the one write that moves it together with its card. */
import { Refusal } from '../../protocol/errors.ts';
import type { ConversationRow } from '../../storage/conversations/conversations.ts';
import { type InvocationRow, readInvocationById, type Settlement } from '../../storage/conversations/invocations.ts';
import { readTurnSender } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Caller } from '../caller.ts';
import { actedConversation } from '../people/ownership.ts';
import type { Retries } from '../retried.ts';

export interface ConfirmationServices {
  readonly storage: Storage;
  nowMs(): number;
}

/** The loser of a race finds an answer, or a card that a person is changing by hand; one person does not lose this many in a row. */
export const CARD_RETRIES: Retries = {
  max: 8,
  exhausted: () => new Refusal('internal', 'Others answer this card at the same time. Try again.'),
};

/** Rows of turns are numbered from 1. */
const NO_TURN = 0;

export interface CallerInvocation {
  readonly db: Connection;
  readonly row: InvocationRow;
  readonly conversation: ConversationRow;
}

/** The call as it is now. @throws Refusal 404 `invalid_request` when it is missing or another caller's (one answer for both), 400 for a read. */
export function callerInvocation({ storage }: ConfirmationServices, caller: Caller, id: string): CallerInvocation {
  const db = storage.organisation(caller.organisationId);
  const row = readInvocationById(db, id);
  // A missing call is looked for in a missing conversation, so that it takes as long as a stranger's.
  const conversation = actedConversation(db, row?.conversationId ?? '', readTurnSender(db, row?.turn ?? NO_TURN), caller);
  if (row === undefined || conversation === undefined) {
    throw new Refusal('invalid_request', 'There is no such invocation for this device.', { status: 404 });
  }
  if (row.risk === 'read') throw new Refusal('invalid_request', 'This invocation is a read action: nobody is asked to confirm it.');
  return { db, row, conversation };
}

export function moveInvocation(
  { storage }: ConfirmationServices,
  organisationId: string,
  settlement: Settlement,
  nowMs: number,
): Promise<boolean> {
  return storage.write(organisationId, 'answerInvocation', { settlement, nowMs });
}
