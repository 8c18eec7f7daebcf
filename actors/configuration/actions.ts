/** Writes a batch of HTTP actions (SERVERACTION-1). Each item is saved on its own; one that fails does not fail the others. */
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { type HttpActionShape, judgeHttpAction, type Surroundings } from '../../protocol/setup/actions.ts';
import type { ArchivedAction, UpsertAction } from '../../storage/apps/http-actions.ts';
import type { Storage } from '../../storage/storage.ts';
import { settleEach, type WriteTarget } from './write-queue.ts';

export type ActionOp = 'created' | 'updated' | 'unchanged' | 'archived';

export type ActionResult =
  | {
      readonly external_key: string;
      readonly ok: true;
      readonly op: ActionOp;
      readonly name: string;
      /** Whether it waits for a key that a person enters: it is switched off until then. */
      readonly needs_key: boolean;
    }
  | { readonly external_key: string; readonly ok: false; readonly name: string | null; readonly needs_key: false; readonly error: string };

type Saved = Extract<ActionResult, { ok: true }>;

export type ActionWrite =
  | { readonly name: 'upsertAction'; readonly input: UpsertAction }
  | { readonly name: 'archiveAction'; readonly input: ArchivedAction };

/** How an item is written. `surroundings`: which addresses it may have (see judgeHttpAction). @throws Refusal invalid_body. */
export function actionWrite(item: HttpActionShape, surroundings: Surroundings, { appId, origin }: WriteTarget, nowMs: number): ActionWrite {
  const judged = judgeHttpAction(item, surroundings);
  switch (judged.form) {
    case 'refused':
      throw new Refusal('invalid_body', judged.error);
    case 'archive':
      return { name: 'archiveAction', input: { appId, externalKey: judged.item.external_key, reason: judged.item.reason, nowMs } };
    case 'action':
      return { name: 'upsertAction', input: { actionId: mintId('act', nowMs), appId, action: judged.item, origin, nowMs } };
  }
}

async function save(storage: Storage, organisationId: string, write: ActionWrite): Promise<Omit<Saved, 'external_key'>> {
  if (write.name === 'archiveAction') {
    const { name } = await storage.write(organisationId, 'archiveAction', write.input);
    return { ok: true, op: 'archived', name, needs_key: false };
  }
  const { op, needsKey } = await storage.write(organisationId, 'upsertAction', write.input);
  return { ok: true, op, name: write.input.action.name, needs_key: needsKey };
}

/** When `failed` is the number of items, nothing was saved. @throws StorageError: sending the same items again is safe. */
export async function takeInActions(
  storage: Storage,
  target: WriteTarget,
  items: readonly HttpActionShape[],
  nowMs: number,
  surroundings: Surroundings,
) {
  const outcomes = await settleEach(items, (item) => save(storage, target.organisationId, actionWrite(item, surroundings, target, nowMs)));
  const results = items.map(({ external_key, name = null }, at): ActionResult => {
    const outcome = outcomes[at] as (typeof outcomes)[number];
    return outcome instanceof Refusal
      ? { external_key, ok: false, name, needs_key: false, error: outcome.message }
      : { external_key, ...outcome };
  });
  return {
    failed: results.filter((result) => !result.ok).length,
    needs_key: results.flatMap((result) => (result.ok && result.needs_key ? [result.name] : [])),
    results,
  };
}
