/** A person's answer to a call (CONFIRM-5), a compare-and-set of its row: of answers that race one is recorded and every reply is it. */

import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../../protocol/errors.ts';
import type { ConfirmReply, ConfirmRequest, EditReply, EditRequest } from '../../protocol/runtime/invocations.ts';
import { type InvocationRow, readEditing } from '../../storage/conversations/invocations.ts';
import type { Caller } from '../caller.ts';
import { redactionOf } from '../people/redaction.ts';
import { OVERTAKEN, retried } from '../retried.ts';
import { definitionOf } from './call-definition.ts';
import { CARD_RETRIES, type CallerInvocation, type ConfirmationServices, callerInvocation, moveInvocation } from './caller-invocation.ts';
import { editingCard, requireRevision, settledCard } from './card.ts';
import { editCard } from './card-edit.ts';
import { answerOf, changed, decisionChange, expireChange, lostChange } from './invocation-step.ts';
import { callerReceipt } from './receipt.ts';

/** Rows put right in one transaction at a start. */
const ROWS_PER_ROUND = 200;
/** A change takes some milliseconds; after this long its process is gone. */
export const EDIT_ABANDONED_MS = 5_000;

function changeOf({ id, revision }: InvocationRow): string {
  return `${id} ${revision}`;
}

/** Letters that look alike are the same letters, and a keyboard's space at the end is not meant. */
function plain(words: string): string {
  return words.normalize('NFC').trim();
}

/** @throws Refusal 400 when the card asks for words and these are others. */
function requireTyped(row: InvocationRow, typed: string | undefined): void {
  const wanted = definitionOf(row)?.action.type_to_confirm;
  if (wanted === undefined || plain(typed ?? '') === plain(wanted)) return;
  const message = `must be "${wanted}", as the card asks; nothing was confirmed`;
  throw new Refusal('invalid_request', `typed ${message}.`, { details: [{ path: 'typed', message }] });
}

function requireConfirmable(row: InvocationRow, seen: InvocationRow): void {
  if (row.state === 'pending.editing') {
    throw new Refusal('invalid_request', 'A change of this card is under way. Confirm it once that is answered.');
  }
  if (row.state === 'pending.rejected') {
    throw new Refusal('invalid_request', 'The last change of this card was not accepted. Change it again or decline.');
  }
  if (row.revision !== seen.revision) {
    throw new Refusal(
      'invalid_request',
      `The card was changed while this answer came. Show the person revision ${row.revision} and ask again.`,
    );
  }
}

function alreadyAnswered({ decisionId }: InvocationRow, { decision_id: id }: ConfirmRequest): Partial<ConfirmReply> {
  return { already_answered: true, ...(id === undefined ? {} : { yours: id === decisionId }) };
}

export class Confirmations {
  readonly #services: ConfirmationServices;

  constructor(services: ConfirmationServices) {
    this.#services = services;
  }

  /** @throws Refusal `conflict` with the card, for another revision; `invalid_request`: 404 when the call is not the caller's, else 400. */
  async confirm(caller: Caller, id: string, request: ConfirmRequest): Promise<ConfirmReply> {
    const { row: seen } = callerInvocation(this.#services, caller, id);
    return retried(CARD_RETRIES, async () => {
      const asked = callerInvocation(this.#services, caller, id);
      const { db, row } = asked;
      if (answerOf(row) !== 'pending') return this.#reply(caller, asked, alreadyAnswered(row, request));
      const nowMs = this.#services.nowMs();
      const change = expireChange(row, nowMs) ?? this.#decided(caller, asked, seen, request, nowMs);
      const settlement = { change, card: settledCard(db, change) };
      const tookEffect = await moveInvocation(this.#services, caller.organisationId, settlement, nowMs);
      return tookEffect ? this.#reply(caller, { ...asked, row: changed(row, change) }) : OVERTAKEN;
    });
  }

  #decided(
    caller: Caller,
    { db, row, conversation }: CallerInvocation,
    seen: InvocationRow,
    { decision, typed, revision, decision_id: decisionId }: ConfirmRequest,
    nowMs: number,
  ) {
    if (decision === 'confirm') {
      const { storage } = this.#services;
      requireRevision(db, row, revision, (card) => redactionOf(storage, caller.organisationId, conversation).restore(card));
      requireConfirmable(row, seen);
      requireTyped(row, typed);
    }
    const change = decisionChange(row, decision, nowMs);
    if (change === null) throw new Error(`${decision} of a call in ${row.state} is ignored`);
    return { ...change, decisionId };
  }

  #reply(caller: Caller, asked: CallerInvocation, already: Partial<ConfirmReply> = {}): ConfirmReply {
    const answer = answerOf(asked.row);
    if (answer === 'pending') throw new Error(`a call in ${asked.row.state} has no answer`);
    const receipt = answer === 'confirmed' ? callerReceipt(this.#services, caller, asked) : undefined;
    return { status: answer, ...already, ...(receipt === undefined ? {} : { receipt }) };
  }

  edit(caller: Caller, id: string, request: EditRequest): Promise<EditReply> {
    return editCard(this.#services, caller, id, request);
  }

  /** Whether a change of a card is under way, or its process ended meanwhile. */
  isUnfinished(organisationId: string): boolean {
    return readEditing(this.#services.storage.organisation(organisationId), 1).length > 0;
  }

  /** A card whose process ended in a change can be answered again. `patienceMs`: only after so long, for others may be changing it. */
  async resume(organisationId: string, patienceMs = 0): Promise<void> {
    const { storage, nowMs } = this.#services;
    const db = storage.organisation(organisationId);
    for (;;) {
      let rows = readEditing(db, ROWS_PER_ROUND);
      if (patienceMs > 0 && rows.length > 0) {
        const before = new Set(rows.map(changeOf));
        await pause(patienceMs);
        rows = readEditing(db, ROWS_PER_ROUND).filter((row) => before.has(changeOf(row)));
      }
      const settlements = rows.flatMap((row) => {
        const change = lostChange(row);
        return change === null ? [] : [{ change, card: editingCard(db, row, 'idle') }];
      });
      if (settlements.length === 0) return;
      await storage.write(organisationId, 'settleInvocations', { settlements, nowMs: nowMs() });
      // What is found now has begun in between, or is one of more than any node changes at once: those run out.
      if (patienceMs > 0) return;
    }
  }
}
