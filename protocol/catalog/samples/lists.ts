/** Samples of components that list or align facts, of buying and of buttons. */
import { euros, picture, type Samples } from './sample.ts';

const KETTLES = [
  {
    id: 'classic',
    title: 'Classic kettle',
    subtitle: '0.8 l, brushed steel',
    price: euros('29.00'),
    image: picture('classic', 'The Classic'),
  },
  {
    id: 'large',
    title: 'Large kettle',
    subtitle: '1.7 l, keeps warm',
    price: euros('49.00'),
    badge: 'Our pick',
    image: picture('large', 'The Large'),
  },
  { id: 'mug', title: 'Stone mug', subtitle: '0.3 l', price: euros('12.50'), image: picture('mug', 'A mug of stone') },
  { id: 'tin', title: 'Tea tin', subtitle: 'Holds 200 g', price: euros('9.00'), image: picture('tin', 'A tin for tea') },
].map((item) => ({ ...item, tap: { kind: 'open_screen', label: 'Look at it', target: 'product' } }));

const ORDER = {
  order_id: 'A-1038',
  status: 'shipped',
  steps: [
    { label: 'Ordered', state: 'done', at: '2026-11-20T18:04:00+01:00' },
    { label: 'Packed', state: 'done', at: '2026-11-21T09:30:00+01:00' },
    { label: 'On its way', state: 'current', at: '2026-11-22T07:10:00+01:00' },
    { label: 'Delivered', state: 'pending' },
  ],
  eta: { from: '2026-11-23T14:00:00Z', until: '2026-11-23T17:00:00Z' },
  carrier: 'Parcel Express',
  tracking_number: 'JD014600006811',
  tracking_url: 'https://parcels.example/JD014600006811',
  items: [
    { name: 'Large kettle', quantity: 1, price: euros('49.00'), image: picture('large', 'The Large') },
    { name: 'Stone mug', quantity: 2, price: euros('25.00'), image: picture('mug', 'A mug of stone') },
  ],
  actions: [{ kind: 'send', label: 'Change the address', target: 'Change the address of A-1038' }],
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

export const LISTS = {
  tags: {
    Ready: {
      label: 'Kettle',
      items: [
        { id: 'a', label: 'Vegan' },
        { id: 'b', label: 'In stock', tone: 'success' },
        { id: 'c', label: 'Only 3 left', tone: 'warning' },
        { id: 'd', label: 'Recalled', tone: 'danger' },
        { id: 'e', label: 'New', tone: 'info' },
      ],
    },
  },
  timeline: {
    Ready: {
      title: 'Your repair',
      events: [
        { title: 'Kettle received', at: '2026-11-18T10:12:00+01:00', state: 'done' },
        {
          title: 'First test failed',
          at: '2026-11-19T09:40:00+01:00',
          state: 'failed',
          detail: 'The lid did not close: we ordered another one.',
        },
        { title: 'Being repaired', at: '2026-11-23T08:05:00+01:00', state: 'current', detail: 'A new heating coil is built in.' },
        { title: 'Back to you', state: 'upcoming' },
      ],
    },
  },
  checklist: {
    Ready: {
      title: 'Before the first cup',
      items: [
        { id: 'a', label: 'Rinse it', done: true },
        { id: 'b', label: 'Boil it twice, empty', done: true },
        { id: 'c', label: 'Set how hard your water is', done: false, detail: 'Hold + for three seconds.' },
      ],
    },
  },
  comparison: {
    Ready: {
      columns: [
        { id: 'classic', name: 'Classic', image: picture('classic', 'The Classic') },
        { id: 'large', name: 'Large', image: picture('large', 'The Large'), badge: 'Our pick' },
      ],
      rows: [
        { label: 'Holds', values: ['0.8 l', '1.7 l'] },
        { label: 'Keeps warm', values: [false, '2 hours'] },
        { label: 'Guarantee', values: [true, true] },
        { label: 'Price', values: [euros('29.00'), euros('49.00')] },
      ],
      recommended_id: 'large',
    },
    'Four columns': {
      columns: [
        { id: 'a', name: 'Classic' },
        { id: 'b', name: 'Large' },
        { id: 'c', name: 'Travel' },
        { id: 'd', name: 'Gooseneck' },
      ],
      rows: [
        { label: 'Holds', values: ['0.8 l', '1.7 l', '0.5 l', '1.0 l'] },
        { label: 'Foldable', values: [false, false, true, false] },
      ],
    },
  },
  key_value: {
    Ready: {
      title: 'Order A-1042',
      rows: [
        { label: 'Placed', value: '21 November, 18:04' },
        { label: 'Total', value: '€58.00' },
        { label: 'Payment', value: 'Received', tone: 'success' },
        { label: 'Delivery', value: 'One day late', tone: 'warning' },
        { label: 'Tracking', value: 'JD014600006811', copyable: true },
      ],
    },
  },
  item_list: {
    List: { title: 'Kettles', layout: 'list', items: KETTLES, total: 12 },
    Grid: { layout: 'grid', items: KETTLES },
    Carousel: { title: 'Goes with it', layout: 'carousel', items: KETTLES },
    Plain: { layout: 'list', items: [{ id: 'x', title: 'A gift card', subtitle: 'From €10' }] },
  },
  actions: {
    Row: {
      buttons: [
        { kind: 'send', label: 'Put it in my cart', target: 'Put the Large kettle in my cart', style: 'primary' },
        { kind: 'open_screen', label: 'See my cart', target: 'cart' },
        { kind: 'copy', label: 'Copy the code', target: 'AUTUMN-10' },
      ],
    },
    Stack: {
      layout: 'stack',
      buttons: [
        { kind: 'open_url', label: 'Read the guide', target: 'https://kettle.example/guide' },
        { kind: 'call', label: 'Call us', target: '+49 30 1234567' },
        { kind: 'email', label: 'Write to us', target: 'help@kettle.example' },
        { kind: 'send', label: 'Delete my account', target: 'Delete my account', style: 'danger' },
      ],
    },
  },
  screens: {
    Ready: {
      items: [
        { route: 'orders', title: 'Your orders', description: 'What you bought, and where it is' },
        { route: 'product', title: 'Large kettle', params: { id: 'large' } },
      ],
    },
  },
  order_tracker: {
    'On its way': ORDER,
    Delivered: {
      ...ORDER,
      status: 'delivered',
      steps: ORDER.steps.map((step) => ({ ...step, state: 'done' })),
      items: [],
      actions: [],
    },
    Cancelled: {
      order_id: 'A-1042',
      status: 'cancelled',
      steps: [
        { label: 'Ordered', state: 'done' },
        { label: 'Cancelled', state: 'failed' },
      ],
      items: [],
      actions: [],
    },
    'Many steps': {
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
  pass: {
    QR: { ...PASS, kind: 'event', barcode: { format: 'qr', value: 'https://kettle.example/t/7F3A-99', alt: '7F3A-99' } },
    'Code 128': {
      ...PASS,
      kind: 'loyalty',
      title: 'Kettle & Co. card',
      barcode: { format: 'code128', value: '4006381333931', alt: '4006 3813 33931' },
    },
    PDF417: {
      ...PASS,
      kind: 'boarding',
      title: 'Berlin to Lisbon',
      barcode: { format: 'pdf417', value: 'M1SAMPLE/ANA EABC123 BERLIS', alt: 'ABC123' },
    },
    Aztec: {
      ...PASS,
      kind: 'ticket',
      title: 'Day ticket, zone A',
      barcode: { format: 'aztec', value: 'A-0099-2211', alt: 'A-0099-2211' },
    },
    Expired: {
      ...PASS,
      kind: 'coupon',
      title: '10 % off',
      valid_until: '2026-10-31T22:00:00Z',
      barcode: { format: 'qr', value: 'AUTUMN-10', alt: 'AUTUMN-10' },
    },
  },
} satisfies Samples;
