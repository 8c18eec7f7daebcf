/** The states in which a component is shown: its samples as the catalog has them, what only a client knows of them, and those that every component has. */
import type { Block } from '../../../protocol/catalog/block.ts';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import type { Body } from '../../../protocol/catalog/component.ts';
import { SAMPLES } from '../../../protocol/catalog/samples/samples.ts';
import type { AnswerBlock } from '../../client/conversation/answer-blocks.ts';
import type { BlockAnswer, BlockProps, BlockState, ComponentName } from '../../sdk/blocks/block-view.ts';

/** A sample in one state. Bodies pass the catalog's validators (DEMO-3). */
interface Shown {
  readonly name: string;
  readonly body: Body;
  readonly answer?: BlockAnswer;
  readonly call?: BlockProps<'confirm_card'>['call'];
}

/** The time on the page: what runs out always has as long left. */
export const SAMPLE_NOW_MS = Date.parse('2026-11-23T09:30:00Z');

/** An answer that was not taken. */
function refused(message: string, ...details: readonly { path: string; message: string }[]): BlockAnswer {
  return { phase: 'failed', failure: { code: 'conflict', message, retryable: false, details } };
}

const open = (name: string, body: Body): Shown => ({ name, body: { ...body, status: 'open' } });
const answered = (name: string, body: Body, ids: readonly string[]): Shown => {
  return { name, body: { ...body, status: 'answered', selected_ids: ids } };
};

/** Open, on its way, answered, not taken, replaced: what every block with Pick goes through. */
function picked(body: Body, ids: readonly string[]): readonly Shown[] {
  return [
    open('Open', body),
    { ...open('Sending', body), answer: { phase: 'sending', ids } },
    answered('Answered', body, ids),
    { name: 'Superseded', body: { ...body, status: 'superseded' } },
    { ...open('Failed', body), answer: refused('This was answered already, on another device.') },
  ];
}

function cards(): readonly Shown[] {
  const { confirm_card: sample } = SAMPLES;
  const { type_to_confirm: _none, ...free } = sample.Open;
  const words = 'Put two Stone mugs in your cart?';
  const write = { ...free, title: words, summary: words, risk: 'write', fields: [], confirm_label: 'Put them in', decline_label: 'No' };
  const settled = (name: string, status: string): Shown => ({ name, body: { ...sample.Open, status } });
  const invocation_id = sample.Open.invocation_id;
  const call = {
    invocation_id,
    name: 'cancel_order',
    params: {},
    timeout_ms: 10_000,
    risk: 'destructive',
    executor: 'client',
    phase: 'settled',
  } as const;
  const fields = sample.Open.fields.map((field) => (field.param === 'reason' ? { ...field, error: 'must be one of the reasons' } : field));
  const failed = { invocation_id, status: 'error', error: 'the order was packed in the meantime' } as const;
  return [
    { name: 'Open, type to confirm', body: sample.Open },
    { name: 'Open', body: { ...write, expires_at: '2026-11-23T09:34:05Z' } },
    { name: 'Sending', body: sample.Open, call: { ...call, phase: 'deciding' } },
    { name: 'Change not taken', body: { ...sample.Open, edit_state: 'rejected', fields } },
    { ...settled('At work', 'confirmed'), call: { ...call, phase: 'running' } },
    { ...settled('Confirmed', 'confirmed'), call: { ...call, result: { invocation_id, status: 'ok', confirmed: true } } },
    { ...settled('Failed', 'confirmed'), call: { ...call, result: failed } },
    settled('Declined', 'declined'),
    settled('Expired', 'expired'),
  ];
}

function asked(): Readonly<Record<string, readonly Shown[]>> {
  const { quick_replies: replies, choice, rating, variant_picker: variants, datetime_slots: slots } = SAMPLES;
  const form = { form_id: 'sample-form', ...SAMPLES.form.Open };
  return {
    quick_replies: picked(replies.Open, ['quiet']),
    choice: [
      ...picked(choice.Open, ['express']),
      open('Several', choice.Several),
      answered('Several, answered', choice.Several, ['green', 'coffee']),
    ],
    rating: [
      ...picked(rating.Open, ['4']),
      open('Faces', rating.Faces),
      answered('Faces, answered', { ...rating.Faces, scale: 3 }, ['3']),
      open('Numbers', rating.Numbers),
      answered('Numbers, answered', rating.Numbers, ['9']),
    ],
    variant_picker: picked(variants.Open, ['steel', 'eu', 'paper']),
    datetime_slots: picked(slots.Open, ['2026-11-24-10:00']),
    form: [
      ...picked(form, []),
      {
        ...open('Not taken', form),
        answer: refused('Something is missing.', { path: 'values.email', message: 'must be an e-mail address' }),
      },
    ],
    confirm_card: cards(),
  };
}

/** All states of the samples, by component. */
export const SHOWN: Readonly<Record<string, readonly Shown[]>> = {
  ...Object.fromEntries(
    Object.entries(SAMPLES).map(([type, states]) => [type, Object.entries<Body>(states).map(([name, body]) => ({ name, body }))]),
  ),
  ...asked(),
};

type ShownState = Omit<BlockState, 'around'> & { readonly name: string };

function ready(name: string, type: string, body: Block['body'], more: Partial<Block> = {}): AnswerBlock & { readonly phase: 'ready' } {
  const id = `${type}-${name.replaceAll(/\W+/g, '-').toLowerCase()}`;
  return { phase: 'ready', index: 0, id, blockType: type, block: { index: 0, id, block_type: type, revision: 1, body, ...more } };
}

export function statesOf(type: ComponentName): readonly ShownState[] {
  const samples = SHOWN[type] ?? [];
  const shown = samples.map(({ name, body, answer, call }): ShownState => {
    return { name, block: ready(name, type, body), answer, call, isNewest: true };
  });
  const announced = { index: 0, id: `${type}-announced`, blockType: type, text: '' };
  const [first] = samples;
  const fallback = first === undefined ? '' : (CATALOG.get(type)?.fallback(first.body) ?? '');
  return [
    { name: 'Announced', block: { ...announced, phase: 'announced' }, isNewest: true },
    ...shown,
    // A build that does not know the component knows it by another name.
    { name: 'Fallback', block: ready('fallback', `${type}_later`, {}, { fallback_text: fallback }), isNewest: true },
    { name: 'Not arrived', block: { ...announced, phase: 'unfinished' }, isNewest: true },
  ];
}
