/**
 * Takes in a batch of HTTP actions (SERVERACTION-1): one set of rules for the setup interface and the
 * console. Each item is saved on its own; one that fails does not fail the others.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { type HttpActionShape, type JudgedAction, judgeHttpAction, type Surroundings } from '../../protocol/setup/actions.ts';
import type { Storage } from '../../storage/storage.ts';
import type { IntakeTarget } from './target.ts';

export type ActionOp = 'created' | 'updated' | 'unchanged' | 'archived';

/** As it travels. */
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

export interface ActionReport {
  readonly failed: number;
  /** Names of the actions of this batch that wait for a key. */
  readonly needs_key: readonly string[];
  readonly results: readonly ActionResult[];
}

type Saved = Extract<ActionResult, { ok: true }>;

async function save(storage: Storage, target: IntakeTarget, judged: JudgedAction, nowMs: number): Promise<Saved> {
  const { organisationId, appId, origin } = target;
  switch (judged.form) {
    case 'refused':
      throw new Refusal('invalid_body', judged.error);
    case 'archive': {
      const { external_key, reason } = judged.item;
      const archived = await storage.write(organisationId, 'archiveAction', { appId, externalKey: external_key, reason, nowMs });
      if (archived === undefined) throw new Refusal('not_found', 'external_key names no action of this app');
      return { external_key, ok: true, op: 'archived', name: archived.name, needs_key: false };
    }
    case 'action': {
      const action = judged.item;
      const input = { actionId: mintId('act', nowMs), appId, action, origin, nowMs };
      const { op, needsKey } = await storage.write(organisationId, 'upsertAction', input);
      return { external_key: action.external_key, ok: true, op, name: action.name, needs_key: needsKey };
    }
  }
}

/**
 * Saves the items in their order. When `failed` is the number of items, nothing was saved.
 * `surroundings`: which addresses an action may have (see judgeHttpAction).
 * @throws StorageError when the disk or the writer fails: sending the same items again is safe.
 */
export async function takeInActions(
  storage: Storage,
  target: IntakeTarget,
  items: readonly HttpActionShape[],
  nowMs: number,
  surroundings: Surroundings,
): Promise<ActionReport> {
  const results: ActionResult[] = [];
  for (const item of items) {
    // Judging fifty of the worst takes 50 ms.
    await breathe();
    try {
      results.push(await save(storage, target, judgeHttpAction(item, surroundings), nowMs));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      results.push({ external_key: item.external_key, ok: false, name: item.name ?? null, needs_key: false, error: error.message });
    }
  }
  return {
    failed: results.filter((result) => !result.ok).length,
    needs_key: results.flatMap((result) => (result.ok && result.needs_key ? [result.name] : [])),
    results,
  };
}
