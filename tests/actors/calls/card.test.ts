import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { definitionOf, originalCall } from '../../../actors/calls/call-definition.ts';
import { confirmCardBody, fillTemplate, localised } from '../../../actors/calls/card-body.ts';
import { validateBody } from '../../../protocol/catalog/catalog.ts';
import { completeManifest, type ManifestAction, type PostedManifest } from '../../../protocol/runtime/manifest.ts';
import type { InvocationRow } from '../../../storage/conversations/invocations.ts';

function declared(fields: Partial<PostedManifest['actions'][number]>): ManifestAction {
  const posted = { name: 'cancel_order', description: 'Cancels an order.', risk: 'write' as const, confirm_template: 'Cancel {order_id}?' };
  const [action] = completeManifest({ version: '1', actions: [{ ...posted, ...fields }] }).actions;
  return action as ManifestAction;
}

const EXPIRES_AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

function card(action: ManifestAction, params: Record<string, unknown>, locale: string | null = null) {
  return confirmCardBody(action, { invocationId: 'inv_1', params, expiresAtMs: EXPIRES_AT_MS }, locale);
}

describe('the confirmation card is drawn from what the app declared', () => {
  test('CONFIRM-1: the sentence, the fields and the deadline', () => {
    const action = declared({ params: { order_id: { type: 'string' }, refund: { type: 'number', editable: true, enum: [0, 5] } } });
    assert.deepEqual(card(action, { order_id: 'A-1', refund: 5 }), {
      invocation_id: 'inv_1',
      title: 'Cancel order',
      summary: 'Cancel A-1?',
      risk: 'write',
      fields: [
        { param: 'order_id', label: 'Order id', display: 'A-1', value: 'A-1', editable: false, type: 'string' },
        { param: 'refund', label: 'Refund', display: '5', value: 5, editable: true, type: 'number', enum: [0, 5] },
      ],
      confirm_label: 'Yes, cancel order',
      decline_label: 'Keep',
      expires_at: '2026-01-02T03:04:05.000Z',
      edit_state: 'idle',
      status: 'pending',
    });
  });

  test('CONFIRM-2: fields stand in the order of their declaration, and an editable one that the call lacks is among them', () => {
    const action = declared({
      params: {
        order_id: { type: 'string' },
        note: { type: 'string', editable: true },
        reason: { type: 'string' },
        day: { type: 'string' },
      },
    });
    assert.deepEqual(
      card(action, { day: 'monday', order_id: 'A-1' }).fields.map(({ param, value, display }) => [param, value, display]),
      [
        ['order_id', 'A-1', 'A-1'],
        ['note', undefined, ''],
        ['day', 'monday', 'monday'],
      ],
    );
  });

  test('CONFIRM-4: where the app has no labels, [Confirm] [Cancel] never stand under the question whether to cancel something', () => {
    const labels = (name: string, more: object = {}) => {
      const { confirm_label, decline_label } = card({ ...declared({}), name, ...more }, {});
      return [confirm_label, decline_label];
    };
    assert.deepEqual(labels('cancel_order'), ['Yes, cancel order', 'Keep']);
    assert.deepEqual(labels('cancel_subscription'), ['Yes, cancel subscription', 'Keep']);
    assert.deepEqual(labels('order_cancellation_request'), ['Yes, cancel', 'Keep']);
    assert.deepEqual(labels('move_delivery'), ['Confirm', 'Cancel']);
    assert.deepEqual(labels('cancel_order', { confirm_labels: { en: { confirm: 'Do it', cancel: 'No' } } }), ['Do it', 'No']);
  });

  test('CONFIRM-1: a destructive action says so, with the words to type and its own labels', () => {
    const labels = { en: { confirm: 'Delete', cancel: 'Keep' }, de: { confirm: 'Löschen', cancel: 'Behalten' } };
    const action = declared({ risk: 'destructive', type_to_confirm: 'DELETE', confirm_labels: labels });
    const body = card(action, {}, 'de-AT');
    assert.deepEqual(
      [body.risk, body.type_to_confirm, body.confirm_label, body.decline_label],
      ['destructive', 'DELETE', 'Löschen', 'Behalten'],
    );
  });

  test('CONFIRM-2: whatever the values are, the card is one that a client can draw', () => {
    const action = declared({ params: { order_id: { type: 'string' }, tags: { type: 'array' } } });
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000, unit: 'grapheme' }), fc.array(fc.string(), { maxLength: 50 }), (order, tags) => {
        const checked = validateBody('confirm_card', card(action, { order_id: order, tags }));
        assert.ok(checked.ok, JSON.stringify(checked));
      }),
    );
  });
});

test('CONFIRM-2: a long value is not cut within a placeholder, half of which could not be restored', () => {
  const action = declared({ params: { order_id: { type: 'string' } } });
  const at = (length: number) => card(action, { order_id: `${'x'.repeat(length)}⟦email_1⟧ and more` }).fields[0]?.display;
  assert.equal(at(10), `${'x'.repeat(10)}⟦email_1⟧ and more`);
  for (let length = 180; length <= 200; length += 1) {
    assert.doesNotMatch(at(length) ?? '', /⟦(?!email_1⟧)/, String(length));
    assert.ok((at(length) ?? '').startsWith('x'.repeat(Math.min(length, 199))));
  }
});

describe('templates take values, not instructions', () => {
  test('CONFIRM-3: values stand where they are marked; a marker without a value becomes nothing', () => {
    assert.equal(fillTemplate('Send {count} to {name}{rest}?', { count: 2, name: 'Ada' }), 'Send 2 to Ada?');
    assert.equal(fillTemplate('{list} {yes} {none}', { list: ['a', 1], yes: true, none: null }), '["a",1] true ');
  });

  test('CONFIRM-3: a value that looks like a marker or a replacement pattern stays as it is', () => {
    assert.equal(fillTemplate('{a}{b}', { a: '{b}', b: '$&' }), '{b}$&');
    assert.equal(fillTemplate('{constructor}{toString}', {}), '');
  });
});

describe('the text nearest to the device’s language is taken', () => {
  const texts = { en: 'en', 'pt-BR': 'pt-BR', pt: 'pt', de_AT: 'de_AT', 'zh-Hant': 'zh-Hant', zh: 'zh' };

  test('CONFIRM-4: the locale itself, then its language, then English, then the first', () => {
    for (const [locale, wanted] of [
      ['pt-BR', 'pt-BR'],
      ['pt_br', 'pt-BR'],
      ['pt-PT', 'pt'],
      ['de-at', 'de_AT'],
      ['zh-Hant-TW', 'zh-Hant'],
      ['zh_hant_hk', 'zh-Hant'],
      ['zh-Hans-CN', 'zh'],
      ['fr', 'en'],
      [null, 'en'],
    ] as const) {
      assert.equal(localised(texts, locale), wanted, String(locale));
    }
    assert.equal(localised({ fr: 'fr', it: 'it' }, 'de'), 'fr');
    assert.equal(localised({}, 'de'), undefined);
  });
});

describe('the model’s own call stays what it was when a person changes its values', () => {
  const action = declared({ params: { day: { type: 'string', editable: true } } });
  const asked = { order_id: 'A-1', day: 'monday', note: 'x' };
  const row = (revision: number, params: Record<string, unknown>, more: object = {}) =>
    ({ revision, params, definition: JSON.stringify({ action, locale: 'de', http: null, ...more }) }) as unknown as InvocationRow;

  test('CONFIRM-17: a call that nobody changed is its own', () => {
    assert.deepEqual(originalCall(row(1, asked)), { params: asked, edits: null });
    assert.deepEqual(originalCall({ ...row(1, asked), definition: null }), { params: asked, edits: null });
  });

  test('CONFIRM-17: of a changed one both are known: what was asked, and what the person made of it', () => {
    assert.deepEqual(originalCall(row(2, { order_id: 'A-1', day: 'tuesday', gift: true }, { asked })), {
      params: asked,
      edits: { day: 'tuesday', note: null, gift: true },
    });
  });

  test('CONFIRM-17: a value that was changed and changed back is the model\u2019s own again', () => {
    assert.deepEqual(originalCall(row(3, asked, { asked })), { params: asked, edits: null });
  });

  test('ACTION-11: the action is read back as it was when the person was asked', () => {
    assert.deepEqual(definitionOf(row(1, asked)), { action, locale: 'de', http: null });
    assert.equal(definitionOf({ definition: null }), null);
  });
});
