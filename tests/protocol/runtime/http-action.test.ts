import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asAction } from '../../../protocol/runtime/http-action.ts';
import { judgeHttpAction } from '../../../protocol/setup/actions.ts';

const ITEM = {
  external_key: 'k',
  name: 'cancel_order',
  description: 'Cancels an order.',
  method: 'POST',
  risk: 'destructive',
  confirm_template: 'Cancel {id}?',
  auth: 'user',
  url_template: 'https://api.shop.example/{{param.id}}',
  timeout_ms: 5_000,
  params: [
    { name: 'id', description: 'Its number.', required: true, example: 'A-1' },
    { name: 'why', enum: ['late', 'wrong'] },
    { name: 'lines', type: 'array', items: 'number', example: [1, 2] },
    { name: 'notes', type: 'array' },
  ],
};

function actionOf(item: Parameters<typeof judgeHttpAction>[0]) {
  const judged = judgeHttpAction(item, 'production');
  assert.ok(judged.form === 'action');
  return asAction(judged.item);
}

test('ACTION-8: it reads as an action of a manifest, and says nothing of its address or its credentials', () => {
  assert.deepEqual(actionOf(ITEM), {
    name: 'cancel_order',
    description: 'Cancels an order.',
    risk: 'destructive',
    params: {
      id: { type: 'string', required: true, editable: true, description: 'Its number. Example: A-1', example: 'A-1' },
      why: { type: 'string', required: false, editable: true, enum: ['late', 'wrong'] },
      lines: { type: 'array', required: false, editable: false, items: 'number', description: 'Example: [1,2]', example: [1, 2] },
      notes: { type: 'array', required: false, editable: false, items: 'string' },
    },
    confirm_template: 'Cancel {id}?',
    timeoutMs: 5_000,
  });
});

test('CONFIRM-13: nobody edits a read', () => {
  const { confirm_template, auth, risk, method, ...rest } = ITEM;
  const { params, ...action } = actionOf({ ...rest, method: 'GET' });
  assert.deepEqual(
    Object.values(params).map(({ editable }) => editable),
    [false, false, false, false],
  );
  assert.deepEqual([action.risk, Object.hasOwn(action, 'confirm_template')], ['read', false]);
});
