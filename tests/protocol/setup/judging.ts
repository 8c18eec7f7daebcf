/** Judges HTTP actions for tests: what is taken, and which field a refusal names. */
import assert from 'node:assert/strict';
import { type HttpActionShape, judgeHttpAction, type Surroundings } from '../../../protocol/setup/actions.ts';

/** Two actions that are in order, to be changed field by field. */
export const READ = {
  external_key: 'orders.get',
  name: 'get_order',
  description: 'Looks an order up.',
  method: 'GET',
  url_template: 'https://api.example.com/orders/{{param.id}}',
  params: [{ name: 'id', required: true }],
};
export const WRITE = {
  ...READ,
  name: 'cancel_order',
  method: 'POST',
  risk: 'write',
  confirm_template: 'Cancel order {id}?',
  auth: 'user',
};

export type Fields = Readonly<Record<string, unknown>>;

/** As it arrives: a field of undefined is one left out. */
export const judge = (item: Fields, surroundings: Surroundings = 'production') =>
  judgeHttpAction(JSON.parse(JSON.stringify(item)) as HttpActionShape, surroundings);

/** Each change makes an action that is taken. */
export function accepts(base: Fields, ...changes: Fields[]) {
  for (const change of changes)
    assert.equal(judge({ ...base, ...change }).form, 'action', JSON.stringify([change, judge({ ...base, ...change })]));
}

/** Each change is refused, and the error starts with `field`. */
export function refuses(base: Fields, field: string, ...changes: Fields[]) {
  for (const change of changes) {
    const judged = judge({ ...base, ...change });
    assert.ok(judged.form === 'refused', `accepted: ${JSON.stringify(change)}`);
    assert.equal(judged.error.split(' ')[0], field, `${JSON.stringify(change)}: ${judged.error}`);
  }
}
