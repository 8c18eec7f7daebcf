/** Samples of components of buying, of actions and of what a person agrees to. */
import type { BodyOf } from '../../../sdk/blocks/block-view.ts';
import { euros, picture, ready, type Sample, type Samples } from './sample.ts';

const CARD = {
  invocation_id: 'inv_sample',
  title: 'Cancel order A-1042?',
  summary: 'The order has not been packed yet. €49.00 go back to your card within three days.',
  risk: 'destructive' as const,
  fields: [
    { param: 'item', label: 'Item', display: 'Large kettle', editable: false, type: 'string' as const, value: 'Large kettle' },
    { param: 'refund', label: 'Refund', display: '€49.00 to your card', editable: false, type: 'string' as const },
    {
      param: 'reason',
      label: 'Reason',
      display: 'Changed my mind',
      value: 'Changed my mind',
      editable: true,
      type: 'string' as const,
      enum: ['Changed my mind', 'Found it cheaper', 'Takes too long'],
    },
  ],
  confirm_label: 'Cancel the order',
  decline_label: 'Keep the order',
  type_to_confirm: 'cancel',
  expires_at: '2026-11-23T10:30:00Z',
  edit_state: 'idle' as const,
  status: 'pending' as const,
};

const CALL = {
  invocation_id: 'inv_sample',
  name: 'cancel_order',
  params: {},
  timeout_ms: 10_000,
  risk: 'destructive' as const,
  executor: 'client' as const,
  phase: 'settled' as const,
};

const { type_to_confirm: _none, ...FREE } = CARD;
const WRITE = {
  ...FREE,
  title: 'Put two Stone mugs in your cart?',
  summary: 'Put two Stone mugs in your cart?',
  risk: 'write' as const,
  fields: [],
  confirm_label: 'Put them in',
  decline_label: 'No',
};

const cards: readonly [Sample<'confirm_card'>, ...Sample<'confirm_card'>[]] = [
  { name: 'Open, type to confirm', body: CARD },
  { name: 'Open', body: { ...WRITE, expires_at: '2026-11-23T09:34:05Z' } },
  { name: 'Sending', body: CARD, call: { ...CALL, phase: 'deciding' } },
  {
    name: 'Change not taken',
    body: {
      ...CARD,
      edit_state: 'rejected',
      fields: CARD.fields.map((field) => (field.param === 'reason' ? { ...field, error: 'must be one of the reasons' } : field)),
    },
  },
  { name: 'At work', body: { ...CARD, status: 'confirmed' }, call: { ...CALL, phase: 'running' } },
  {
    name: 'Confirmed',
    body: { ...CARD, status: 'confirmed' },
    call: { ...CALL, result: { invocation_id: 'inv_sample', status: 'ok', confirmed: true } },
  },
  {
    name: 'Failed',
    body: { ...CARD, status: 'confirmed' },
    call: { ...CALL, result: { invocation_id: 'inv_sample', status: 'error', error: 'the order was packed in the meantime' } },
  },
  { name: 'Declined', body: { ...CARD, status: 'declined' } },
  { name: 'Expired', body: { ...CARD, status: 'expired' } },
];

const ORDER = {
  order_id: 'A-1038',
  status: 'shipped' as const,
  steps: [
    { label: 'Ordered', state: 'done' as const, at: '2026-11-20T18:04:00+01:00' },
    { label: 'Packed', state: 'done' as const, at: '2026-11-21T09:30:00+01:00' },
    { label: 'On its way', state: 'current' as const, at: '2026-11-22T07:10:00+01:00' },
    { label: 'Delivered', state: 'pending' as const },
  ],
  eta: { from: '2026-11-23T14:00:00Z', until: '2026-11-23T17:00:00Z' },
  carrier: 'Parcel Express',
  tracking_number: 'JD014600006811',
  tracking_url: 'https://parcels.example/JD014600006811',
  items: [
    { name: 'Large kettle', quantity: 1, price: euros('49.00'), image: picture('large', 'The Large') },
    { name: 'Stone mug', quantity: 2, price: euros('25.00'), image: picture('mug', 'A mug of stone') },
  ],
  actions: [{ kind: 'send' as const, label: 'Change the address', target: 'Change the address of A-1038' }],
};

const PASS = {
  title: 'Tea evening at the shop',
  fields: [
    { label: 'Date', value: '28 Nov 2026' },
    { label: 'Doors', value: '18:30' },
    { label: 'Seat', value: 'Row 2, 7' },
  ],
  valid_until: '2026-11-28T22:00:00+01:00',
};

type Pass = BodyOf<'pass'>;

function pass(name: string, kind: Pass['kind'], barcode: NonNullable<Pass['barcode']>, more: Partial<Pass> = {}): Sample<'pass'> {
  return { name, body: { ...PASS, kind, barcode, ...more } };
}

export const commerceSamples: Pick<Samples, 'actions' | 'screens' | 'confirm_card' | 'order_tracker' | 'pass'> = {
  actions: [
    {
      name: 'Row',
      body: {
        buttons: [
          { kind: 'send', label: 'Put it in my cart', target: 'Put the Large kettle in my cart', style: 'primary' },
          { kind: 'open_screen', label: 'See my cart', target: 'cart' },
          { kind: 'copy', label: 'Copy the code', target: 'AUTUMN-10' },
        ],
      },
    },
    {
      name: 'Stack',
      body: {
        layout: 'stack',
        buttons: [
          { kind: 'open_url', label: 'Read the guide', target: 'https://kettle.example/guide' },
          { kind: 'call', label: 'Call us', target: '+49 30 1234567' },
          { kind: 'email', label: 'Write to us', target: 'help@kettle.example' },
          { kind: 'send', label: 'Delete my account', target: 'Delete my account', style: 'danger' },
        ],
      },
    },
  ],
  screens: ready<'screens'>({
    items: [
      { route: 'orders', title: 'Your orders', description: 'What you bought, and where it is' },
      { route: 'product', title: 'Large kettle', params: { id: 'large' } },
    ],
  }),
  confirm_card: cards,
  order_tracker: [
    { name: 'On its way', body: ORDER },
    {
      name: 'Delivered',
      body: {
        ...ORDER,
        status: 'delivered',
        steps: ORDER.steps.map((step) => ({ ...step, state: 'done' as const })),
        items: [],
        actions: [],
      },
    },
    {
      name: 'Cancelled',
      body: {
        order_id: 'A-1042',
        status: 'cancelled',
        steps: [
          { label: 'Ordered', state: 'done' },
          { label: 'Cancelled', state: 'failed' },
        ],
        items: [],
        actions: [],
      },
    },
    {
      name: 'Many steps',
      body: {
        ...ORDER,
        status: 'delayed',
        items: [],
        actions: [],
        steps: [
          ...ORDER.steps.slice(0, 3),
          { label: 'At customs', state: 'pending' },
          { label: 'Near you', state: 'pending' },
          { label: 'Delivered', state: 'pending' },
        ],
      },
    },
  ],
  pass: [
    pass('QR', 'event', { format: 'qr', value: 'https://kettle.example/t/7F3A-99', alt: '7F3A-99' }),
    pass('Code 128', 'loyalty', { format: 'code128', value: '4006381333931', alt: '4006 3813 33931' }, { title: 'Kettle & Co. card' }),
    pass('PDF417', 'boarding', { format: 'pdf417', value: 'M1SAMPLE/ANA EABC123 BERLIS', alt: 'ABC123' }, { title: 'Berlin to Lisbon' }),
    pass('Aztec', 'ticket', { format: 'aztec', value: 'A-0099-2211', alt: 'A-0099-2211' }, { title: 'Day ticket, zone A' }),
    pass(
      'Expired',
      'coupon',
      { format: 'qr', value: 'AUTUMN-10', alt: 'AUTUMN-10' },
      { title: '10 % off', valid_until: '2026-10-31T22:00:00Z' },
    ),
  ],
};
