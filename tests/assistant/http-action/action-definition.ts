/** A definition of an HTTP action as it is stored: judged by the service's own rules, with its defaults. */
import assert from 'node:assert/strict';
import type { ActionDefinition } from '../../../protocol/setup/action-rules.ts';
import { type HttpActionShape, judgeHttpAction } from '../../../protocol/setup/actions.ts';

export function definitionOf(more: Partial<HttpActionShape> = {}): ActionDefinition {
  const base = {
    external_key: 'orders',
    name: 'find_orders',
    description: 'Finds orders.',
    method: 'GET',
    url_template: 'https://api.shop.example/orders',
  };
  const judged = judgeHttpAction({ ...base, ...more }, 'development');
  if (judged.form !== 'action') assert.fail(judged.form === 'refused' ? judged.error : judged.form);
  return judged.item;
}

/** What a write needs besides. */
export const WRITE = { method: 'POST', risk: 'write', confirm_template: 'Sure?', auth: 'user' } as const;
