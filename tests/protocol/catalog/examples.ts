/** Valid bodies as a model writes them, one or more for every component: shared by the tests of whoever makes or draws blocks. */
import type { Routes } from '../../../protocol/catalog/component.ts';
import { SAMPLES } from '../../../protocol/catalog/samples/samples.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Example = { readonly [key: string]: Json };

const image = { url: 'https://cdn.example.com/shoe.png', alt: 'A red shoe' };
const price = { amount: '59.90', currency: 'EUR' };

function sampled(name: keyof typeof SAMPLES): [Example, ...Example[]] {
  const [first, ...rest] = Object.values<Example>(structuredClone<object>(SAMPLES[name]) as Record<string, Example>);
  if (first === undefined) throw new Error(`no sample of ${name}`);
  return [first, ...rest];
}

/**
 * What the model writes: the server's fields are left out. `text` and `confirm_card` are whole, nobody completes them. Written out here is
 * what tests break in one place after the other; the rest is what the page of components shows.
 */
export const MODEL_EXAMPLES: Readonly<Record<string, readonly [Example, ...Example[]]>> = {
  text: sampled('text'),
  section: sampled('section'),
  key_points: sampled('key_points'),
  tags: sampled('tags'),
  timeline: sampled('timeline'),
  checklist: sampled('checklist'),
  key_value: sampled('key_value'),
  info_card: sampled('info_card'),
  place_card: sampled('place_card'),
  map: sampled('map'),
  disclosure: sampled('disclosure'),
  code: sampled('code'),
  quick_replies: [
    {
      replies: [
        { id: 'track', label: 'Track my order' },
        { id: 'return', label: 'Return it' },
      ],
    },
  ],
  rating: sampled('rating'),
  choice: [
    {
      prompt: 'Which one?',
      mode: 'single',
      options: [
        { id: 'a', label: 'Blue', description: 'As the sea', image, badge: 'New' },
        { id: 'b', label: 'Red', disabled: true },
      ],
    },
    {
      prompt: 'What went wrong?',
      mode: 'multi',
      options: [
        { id: 'late', label: 'Late' },
        { id: 'broken', label: 'Broken' },
        { id: 'wrong', label: 'Wrong thing' },
      ],
      min: 1,
      max: 2,
      other: { label: 'Something else' },
      submit_label: 'Send',
    },
  ],
  actions: [
    {
      buttons: [
        { kind: 'send', label: 'Tell me more', target: 'Tell me more about returns' },
        { kind: 'open_screen', label: 'Orders', target: 'orders', style: 'primary' },
        { kind: 'open_url', label: 'Website', target: 'https://example.com' },
        { kind: 'call', label: 'Call', target: '+34 600 000 000' },
        { kind: 'email', label: 'Write', target: 'help@example.com', style: 'secondary' },
      ],
      layout: 'stack',
    },
    { buttons: [{ kind: 'copy', label: 'Copy code', target: 'SAVE10', style: 'danger' }] },
  ],
  screens: [
    { items: [{ route: 'orders', title: 'Your orders', description: 'All of them', params: { page: 2, open: true, sort: 'date' } }] },
  ],
  confirm_card: [
    {
      invocation_id: 'inv_0001',
      title: 'Cancel order',
      summary: 'Cancels order 1042 and refunds 59.90 EUR.',
      risk: 'destructive',
      fields: [
        { param: 'order_id', label: 'Order', display: '1042', value: '1042', editable: false, type: 'string' },
        {
          param: 'reason',
          label: 'Reason',
          display: 'late',
          editable: true,
          type: 'string',
          enum: ['late', 'broken'],
          error: 'Not a reason.',
        },
      ],
      confirm_label: 'Cancel it',
      decline_label: 'Keep it',
      type_to_confirm: '1042',
      expires_at: '2026-11-20T09:45:00.000Z',
      edit_state: 'idle',
      status: 'pending',
    },
  ],
  order_tracker: [
    {
      order_id: '1042',
      status: 'out_for_delivery',
      steps: [
        { label: 'Packed', state: 'done', at: '2026-11-19T08:00:00+01:00' },
        { label: 'With the courier', state: 'current' },
      ],
      eta: { from: '2026-11-20T14:00:00+01:00', until: '2026-11-20T16:00:00+01:00' },
      carrier: 'Correos',
      tracking_number: 'PK123',
      tracking_url: 'https://example.com/t/PK123',
      items: [{ name: 'Shoe', quantity: 2, image, price }],
      actions: [{ kind: 'open_screen', label: 'Open order', target: 'orders' }],
    },
  ],
  comparison: [
    {
      columns: [
        { id: 'basic', name: 'Basic' },
        { id: 'pro', name: 'Pro', image, badge: 'Best' },
      ],
      rows: [
        { label: 'Price', values: [{ amount: '0', currency: 'EUR' }, price] },
        { label: 'Support', values: [false, true] },
        { label: 'Seats', values: ['1', 'any'] },
      ],
      recommended_id: 'pro',
    },
  ],
  item_list: [
    {
      title: 'Shoes',
      layout: 'grid',
      items: [
        {
          id: 's1',
          title: 'Runner',
          subtitle: 'Light',
          image,
          price,
          badge: 'New',
          tap: { kind: 'send', label: 'Show', target: 'Show me the Runner' },
        },
      ],
      total: 42,
    },
  ],
  pass: [
    {
      kind: 'event',
      title: 'Concert',
      barcode: { format: 'qr', value: 'T-0042', alt: 'T-0042' },
      fields: [{ label: 'Seat', value: '12A' }],
      valid_from: '2026-11-20T18:00:00+01:00',
      valid_until: '2026-11-20T23:00:00+01:00',
    },
  ],
  contact: [
    {
      name: 'Ana',
      role: 'Support',
      channels: [
        { kind: 'email', value: 'ana@example.com', label: 'Mail' },
        { kind: 'phone', value: '⟦phone_1⟧' },
        { kind: 'url', value: 'http://example.com/help' },
        { kind: 'chat', value: '@ana' },
      ],
      hours: 'Weekdays 9 to 17',
    },
  ],
  variant_picker: [
    {
      product_id: 'p1',
      title: 'Runner',
      image,
      axes: [
        {
          id: 'size',
          label: 'Size',
          display: 'chip',
          options: [
            { id: 's40', label: '40' },
            { id: 's41', label: '41' },
          ],
        },
        {
          id: 'colour',
          label: 'Colour',
          display: 'swatch',
          options: [
            { id: 'red', label: 'Red', hex: '#FF0000' },
            { id: 'blue', label: 'Blue' },
          ],
        },
      ],
      variants: [
        { id: 'v1', option_ids: ['s40', 'red'], price, available: true },
        { id: 'v2', option_ids: ['s41', 'red'], available: true },
        { id: 'v3', option_ids: ['s40', 'blue'], available: false },
      ],
      quantity: { min: 1, max: 3 },
    },
  ],
  datetime_slots: [
    {
      prompt: 'When suits you?',
      timezone: 'Europe/Madrid',
      duration_min: 30,
      days: [
        {
          date: '2026-11-20',
          slots: [
            { id: 'd1', start: '2026-11-20T09:00:00+01:00', end: '2026-11-20T09:30:00+01:00', available: true },
            { id: 'd2', start: '2026-11-20T10:00:00+01:00', available: false },
          ],
        },
      ],
    },
  ],
  form: [
    {
      title: 'Your address',
      fields: [
        { name: 'name', label: 'Name', type: 'text', required: true, min: 2, max: 80 },
        { name: 'notes', label: 'Notes', type: 'long_text', error: 'Too short.' },
        { name: 'age', label: 'Age', type: 'number', min: 18, max: 120.5 },
        { name: 'gift', label: 'Gift', type: 'boolean' },
        { name: 'day', label: 'Day', type: 'date', min: '2026-01-01', max: '2026-12-31' },
        { name: 'email', label: 'E-mail', type: 'email' },
        { name: 'phone', label: 'Phone', type: 'phone' },
        { name: 'country', label: 'Country', type: 'select', options: ['ES', 'PT'] },
        { name: 'topics', label: 'Topics', type: 'multi_select', options: ['news', 'offers'], min: 1, max: 2 },
      ],
      submit_label: 'Save',
    },
  ],
};

/** What EXAMPLE_ROUTES' screen is opened with in the example. */
const EXAMPLE_PARAMS = {
  page: { type: 'number', required: false },
  open: { type: 'boolean', required: false },
  sort: { type: 'string', required: false, enum: ['date', 'price'] },
} as const;
export const EXAMPLE_ROUTES: Routes = new Map([['orders', { params: EXAMPLE_PARAMS }]]);

/** The fields a server adds to a new block of each component that it completes. */
export function serverFields(name: string, blockId: string): Example {
  if (name === 'form') return { form_id: blockId, status: 'open' };
  return ['quick_replies', 'choice', 'rating', 'variant_picker', 'datetime_slots'].includes(name) ? { status: 'open' } : {};
}

/** A whole body of the component, as stored. */
export function fullExample(name: string, blockId = 'blk_1'): Example {
  const example = MODEL_EXAMPLES[name];
  if (example === undefined) throw new Error(`no example of ${name}`);
  return { ...serverFields(name, blockId), ...example[0] };
}
