/** What the offline model shows of each component when one is asked for, with made-up data that says so. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Body = { readonly [key: string]: Json };

const PRICE = { amount: '59.90', currency: 'EUR' };

/** Bodies as a model writes them, by component. `text` is every answer; `confirm_card` is the service's own; `screens` needs an app that has some. */
export const SAMPLES: Readonly<Record<string, Body>> = {
  section: { title: 'Returns', md: 'Within **30 days**, in the box it came in.', icon: 'truck' },
  key_points: { title: 'Returns in short', points: [{ text: 'Free within 30 days', tone: 'success' }, { text: 'Paid back in five days' }] },
  quick_replies: {
    replies: [
      { id: 'track', label: 'Track my order' },
      { id: 'return', label: 'Return something' },
    ],
  },
  choice: {
    prompt: 'Which colour?',
    mode: 'single',
    options: [
      { id: 'blue', label: 'Blue', badge: 'New' },
      { id: 'green', label: 'Green', description: 'As grass' },
    ],
  },
  tags: {
    label: 'Diet',
    items: [
      { id: 'vegan', label: 'Vegan', tone: 'success' },
      { id: 'nuts', label: 'With nuts' },
    ],
  },
  actions: {
    buttons: [
      { kind: 'send', label: 'Ask about returns', target: 'How do returns work?', style: 'primary' },
      { kind: 'send', label: 'Ask about delivery', target: 'How long does delivery take?' },
    ],
  },
  order_tracker: {
    order_id: 'A-1042',
    status: 'out_for_delivery',
    steps: [
      { label: 'Packed', state: 'done' },
      { label: 'With the courier', state: 'current' },
      { label: 'Delivered', state: 'pending' },
    ],
    carrier: 'Courier',
    items: [{ name: 'Runner', quantity: 1, price: PRICE }],
  },
  timeline: {
    title: 'A claim',
    events: [
      { title: 'Received', detail: 'By mail', state: 'done' },
      { title: 'In review', state: 'current' },
      { title: 'Decision', state: 'upcoming' },
    ],
  },
  checklist: {
    title: 'Before you fly',
    items: [
      { id: 'passport', label: 'Passport', done: true },
      { id: 'bag', label: 'Bag', done: false, detail: 'At most 8 kg' },
    ],
  },
  comparison: {
    columns: [
      { id: 'basic', name: 'Basic' },
      { id: 'pro', name: 'Pro', badge: 'Popular' },
    ],
    rows: [
      { label: 'Price', values: [{ amount: '0.00', currency: 'EUR' }, PRICE] },
      { label: 'Support', values: [false, true] },
    ],
    recommended_id: 'pro',
  },
  key_value: {
    title: 'A booking',
    rows: [
      { label: 'Reference', value: 'XK12', copyable: true },
      { label: 'Guests', value: '2' },
    ],
  },
  info_card: { title: 'Opening hours', md: 'We close at **five** today.', tone: 'warning' },
  item_list: {
    title: 'Shoes',
    layout: 'list',
    items: [
      { id: 'runner', title: 'Runner', subtitle: 'Light', price: PRICE, badge: 'New' },
      { id: 'walker', title: 'Walker', subtitle: 'Warm', price: PRICE },
    ],
  },
  place_card: {
    name: 'Shop Centro',
    address: 'Calle Mayor 1, Madrid',
    lat: 40.4168,
    lng: -3.7038,
    category: 'Shop',
    rating: 4.5,
    reviews: 120,
    open_now: true,
    hours: ['Mon to Fri 9:00 to 20:00'],
  },
  map: { markers: [{ id: 'shop', lat: 40.4168, lng: -3.7038, label: 'Shop Centro' }], zoom: 14, alt: 'The shop in the old town' },
  pass: {
    kind: 'event',
    title: 'Concert',
    barcode: { format: 'qr', value: 'SAMPLE-0042', alt: 'SAMPLE-0042' },
    fields: [{ label: 'Seat', value: '12A' }],
  },
  code: { language: 'json', code: '{ "hello": "world" }', filename: 'sample.json' },
  contact: { name: 'The team', role: 'Support', channels: [{ kind: 'url', value: 'https://example.com/help' }], hours: 'Weekdays 9 to 17' },
  rating: { prompt: 'How was it?', scale: 5, style: 'stars', comment: true },
  disclosure: { summary: 'Terms of the sample', md: 'It is made up from beginning to end.', open: false },
  variant_picker: {
    product_id: 'runner',
    title: 'Runner',
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
    ],
    variants: [
      { id: 'v40', option_ids: ['s40'], price: PRICE, available: true },
      { id: 'v41', option_ids: ['s41'], available: false },
    ],
    quantity: { min: 1, max: 3 },
  },
  datetime_slots: {
    prompt: 'When suits you?',
    timezone: 'Europe/Madrid',
    duration_min: 30,
    days: [
      {
        date: '2027-03-01',
        slots: [
          { id: 'nine', start: '2027-03-01T09:00:00+01:00', available: true },
          { id: 'ten', start: '2027-03-01T10:00:00+01:00', available: false },
        ],
      },
    ],
  },
  form: {
    title: 'A form',
    fields: [
      { name: 'name', label: 'Name', type: 'text', required: true, max: 80 },
      { name: 'gift', label: 'It is a gift', type: 'boolean' },
      { name: 'country', label: 'Country', type: 'select', options: ['ES', 'PT'] },
    ],
    submit_label: 'Save',
  },
};
