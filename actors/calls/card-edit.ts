/** A person changes values of a call on its card (CONFIRM-13), by the model's rules. Meanwhile the row says so, and confirming waits. */

import { checkValues } from '../../assistant/action-params.ts';
import { Refusal } from '../../protocol/errors.ts';
import { ERROR_DETAILS_MAX } from '../../protocol/limits.ts';
import type { EditReply, EditRequest } from '../../protocol/runtime/invocations.ts';
import { type Detail, summarise } from '../../protocol/schema/issues.ts';
import { type PickChange, readBlockById } from '../../storage/conversations/blocks.ts';
import type { InvocationChange, InvocationRow } from '../../storage/conversations/invocations.ts';
import type { Caller } from '../caller.ts';
import { redactionOf } from '../people/redaction.ts';
import { OVERTAKEN, retried } from '../retried.ts';
import { type CallDefinition, definitionOf } from './call-definition.ts';
import { CARD_RETRIES, type CallerInvocation, type ConfirmationServices, callerInvocation, moveInvocation } from './caller-invocation.ts';
import { editedCard, editingCard, rejectedCard, settledCard } from './card.ts';
import { acceptEdit, answerOf, beginEdit, changed, expireChange, lostChange, rejectEdit } from './invocation-step.ts';

function refused(details: readonly Detail[]): Refusal {
  return new Refusal('invalid_request', `${summarise(details)}.`, { details });
}

/** @throws Refusal 400 when the call was answered. */
function requireOpen(row: InvocationRow): void {
  const answer = answerOf(row);
  if (answer === 'pending') return;
  throw new Refusal('invalid_request', `The card was answered: it is ${answer} and cannot be changed any more.`);
}

/** @throws Refusal 400 for a change of another card than the one that waits, and while another change is under way. */
function requireRevision(row: InvocationRow, revision: number): void {
  if (row.state === 'pending.editing')
    throw new Refusal('invalid_request', 'Another change of this card is under way. Send this one again.');
  if (row.revision === revision) return;
  throw refused([{ path: 'revision', message: `is not that of the card: it is at revision ${row.revision}` }]);
}

/** @throws Refusal 400 naming what the action does not let a person change; the card stays as it is. */
function requireEditable({ action }: CallDefinition, patch: EditRequest['params']): void {
  const details = Object.keys(patch).flatMap((name): Detail[] => {
    const param = Object.hasOwn(action.params, name) ? action.params[name] : undefined;
    if (param?.editable === true) return [];
    return [{ path: `params.${name}`, message: param === undefined ? 'is not a parameter of this action' : 'is not editable' }];
  });
  if (details.length > 0) throw refused(details.slice(0, ERROR_DETAILS_MAX));
}

interface BegunEdit extends CallerInvocation {
  readonly row: InvocationRow;
  readonly definition: CallDefinition;
  /** Every value of the call as it becomes, as the app knows them. */
  readonly params: InvocationRow['params'];
}

function beginCardEdit(services: ConfirmationServices, caller: Caller, id: string, request: EditRequest): Promise<BegunEdit> {
  return retried(CARD_RETRIES, async () => {
    const asked = callerInvocation(services, caller, id);
    const { db, row } = asked;
    requireOpen(row);
    const nowMs = services.nowMs();
    const move = (change: InvocationChange, card: PickChange | null) =>
      moveInvocation(services, caller.organisationId, { change, card }, nowMs);
    const expired = expireChange(row, nowMs);
    if (expired !== null) {
      if (await move(expired, settledCard(db, expired))) requireOpen(changed(row, expired));
      return OVERTAKEN;
    }
    requireRevision(row, request.revision);
    const definition = definitionOf(row);
    if (definition === null)
      throw new Refusal('invalid_request', 'This card was made before cards could be changed. Confirm or decline it.');
    requireEditable(definition, request.params);
    const params = { ...redactionOf(services.storage, caller.organisationId, asked.conversation).restore(row.params), ...request.params };
    const checked = checkValues(definition.action.params, params);
    if (!checked.ok) {
      if (!(await move(rejectEdit(row), rejectedCard(db, row, checked.details)))) return OVERTAKEN;
      throw refused(checked.details.map(({ path, message }) => ({ path: path === '' ? 'params' : `params.${path}`, message })));
    }
    const begun = beginEdit(row);
    const hasBegun = begun !== null && (await move(begun, editingCard(db, row, 'pending')));
    return hasBegun ? { ...asked, definition, params: checked.params } : OVERTAKEN;
  });
}

function storedParams(row: InvocationRow, params: InvocationRow['params'], redacted: EditRequest['params']): InvocationRow['params'] {
  return Object.fromEntries(Object.keys(params).map((name) => [name, Object.hasOwn(redacted, name) ? redacted[name] : row.params[name]]));
}

/** @throws Refusal `invalid_request`: 404 for a call that is not the caller's; 400 for a stale revision, an answered card or bad values. */
export async function editCard(services: ConfirmationServices, caller: Caller, id: string, request: EditRequest): Promise<EditReply> {
  const edit = await beginCardEdit(services, caller, id, request);
  const { db, row, definition } = edit;
  const { organisationId } = caller;
  const redaction = redactionOf(services.storage, organisationId, edit.conversation, { ...caller, locale: definition.locale });
  let tookEffect: boolean;
  try {
    const params = storedParams(row, edit.params, await redaction.redact(request.params));
    const kept: CallDefinition = { ...definition, asked: definition.asked ?? row.params };
    const change = acceptEdit(row, { params: JSON.stringify(params), definition: JSON.stringify(kept) });
    const card = editedCard(db, row, definition, params);
    tookEffect = await moveInvocation(services, organisationId, { change, card }, services.nowMs());
  } catch (error) {
    await giveBack(services, organisationId, edit);
    throw error;
  }
  const { row: now } = callerInvocation(services, caller, id);
  if (!tookEffect) {
    // Declined, run out, or taken by another process that took this one for dead.
    requireOpen(now);
    throw new Refusal('invalid_request', 'The change did not take effect. Send it again.');
  }
  const block = now.blockId === null ? undefined : readBlockById(db, now.blockId);
  return { status: 'pending', revision: row.revision + 1, ...(block === undefined ? {} : { block: redaction.restore(block) }) };
}

/** The change failed for a reason of the service's own: the card can be answered again as it was. */
async function giveBack(services: ConfirmationServices, organisationId: string, { db, row }: BegunEdit): Promise<void> {
  const change = lostChange({ ...row, state: 'pending.editing' });
  if (change === null) return;
  await moveInvocation(services, organisationId, { change, card: editingCard(db, row, 'idle') }, services.nowMs());
}
