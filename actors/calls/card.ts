/** The confirmation card of a stored call: how it is redrawn as the call goes on. */
import { safeCard, safeFallback } from '../../assistant/privacy/safe-block.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import { type ConfirmCardBody, FIELD_ERROR_MAX_CHARS } from '../../protocol/catalog/confirm.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { Detail } from '../../protocol/schema/issues.ts';
import { clip } from '../../protocol/schema/text.ts';
import { type PickChange, readBlockById } from '../../storage/conversations/blocks.ts';
import { type InvocationChange, type InvocationRow, readInvocationById } from '../../storage/conversations/invocations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { CallDefinition } from './call-definition.ts';
import { confirmCardBody } from './card-body.ts';
import { answerOf } from './invocation-step.ts';

/** @throws Refusal 409 `conflict` with the card as it is now, its values put back by `restore`, when `revision` names another one. */
export function requireRevision(db: Connection, row: InvocationRow, revision: number | undefined, restore: (card: Block) => Block): void {
  if (revision === undefined || revision === row.revision) return;
  const block = row.blockId === null ? undefined : readBlockById(db, row.blockId);
  const message = `is not that of the card, which is at revision ${row.revision}: show the person the card as it is, and ask again`;
  const details = [{ path: 'revision', message }];
  throw new Refusal('conflict', `revision ${message}.`, { details, ...(block === undefined ? {} : { block: restore(block) }) });
}

function redrawn(db: Connection, blockId: string | null, redraw: (body: ConfirmCardBody) => ConfirmCardBody): PickChange | null {
  const block = blockId === null ? undefined : readBlockById(db, blockId);
  if (block === undefined) return null;
  const body = safeCard(redraw(block.body as unknown as ConfirmCardBody));
  return {
    id: block.id,
    before: JSON.stringify(block.body),
    after: JSON.stringify(body),
    fallbackText: safeFallback('confirm_card', body),
  };
}

function withoutErrors(fields: ConfirmCardBody['fields']): ConfirmCardBody['fields'] {
  return fields.map(({ error: _, ...field }) => field);
}

/** Null when it has none or shows that already. */
export function settledCard(db: Connection, change: InvocationChange): PickChange | null {
  const row = readInvocationById(db, change.id);
  if (row === undefined) return null;
  const status = answerOf({ state: change.to, confirmedAtMs: change.confirmedAtMs ?? row.confirmedAtMs });
  const block = row.blockId === null ? undefined : readBlockById(db, row.blockId);
  if (status === 'pending' || block === undefined || block.body.status !== 'pending') return null;
  return redrawn(db, row.blockId, (body) => ({ ...body, fields: withoutErrors(body.fields), edit_state: 'idle', status }));
}

export function editingCard(db: Connection, row: InvocationRow, editState: 'pending' | 'idle'): PickChange | null {
  return redrawn(db, row.blockId, (body) => ({ ...body, fields: withoutErrors(body.fields), edit_state: editState }));
}

/** The card after a change that was not accepted; `details` name parameters by path. */
export function rejectedCard(db: Connection, row: InvocationRow, details: readonly Detail[]): PickChange | null {
  const problems = new Map(details.map(({ path, message }) => [path, message]));
  return redrawn(db, row.blockId, (body) => ({
    ...body,
    edit_state: 'rejected',
    fields: withoutErrors(body.fields).map((field) => {
      const problem = problems.get(field.param);
      return problem === undefined ? field : { ...field, error: clip(problem, FIELD_ERROR_MAX_CHARS) };
    }),
  }));
}

export function editedCard(
  db: Connection,
  row: InvocationRow,
  { action, locale }: CallDefinition,
  params: InvocationRow['params'],
): PickChange | null {
  return redrawn(db, row.blockId, (body) => ({
    ...confirmCardBody(action, { invocationId: row.id, params, expiresAtMs: row.expiresAtMs ?? 0 }, locale),
    expires_at: body.expires_at,
  }));
}
