/** Samples of components that list or align facts. */
import { euros, picture, ready, type Samples } from './sample.ts';

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
].map((item) => ({ ...item, tap: { kind: 'open_screen' as const, label: 'Look at it', target: 'product' } }));

export const listSamples: Pick<Samples, 'tags' | 'timeline' | 'checklist' | 'comparison' | 'key_value' | 'item_list'> = {
  tags: ready<'tags'>({
    label: 'Kettle',
    items: [
      { id: 'a', label: 'Vegan' },
      { id: 'b', label: 'In stock', tone: 'success' },
      { id: 'c', label: 'Only 3 left', tone: 'warning' },
      { id: 'd', label: 'Recalled', tone: 'danger' },
      { id: 'e', label: 'New', tone: 'info' },
    ],
  }),
  timeline: ready<'timeline'>({
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
  }),
  checklist: ready<'checklist'>({
    title: 'Before the first cup',
    items: [
      { id: 'a', label: 'Rinse it', done: true },
      { id: 'b', label: 'Boil it twice, empty', done: true },
      { id: 'c', label: 'Set how hard your water is', done: false, detail: 'Hold + for three seconds.' },
    ],
  }),
  comparison: [
    {
      name: 'Ready',
      body: {
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
    },
    {
      name: 'Four columns',
      body: {
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
  ],
  key_value: ready<'key_value'>({
    title: 'Order A-1042',
    rows: [
      { label: 'Placed', value: '21 November, 18:04' },
      { label: 'Total', value: '€58.00' },
      { label: 'Payment', value: 'Received', tone: 'success' },
      { label: 'Delivery', value: 'One day late', tone: 'warning' },
      { label: 'Tracking', value: 'JD014600006811', copyable: true },
    ],
  }),
  item_list: [
    { name: 'List', body: { title: 'Kettles', layout: 'list', items: KETTLES, total: 12 } },
    { name: 'Grid', body: { layout: 'grid', items: KETTLES } },
    { name: 'Carousel', body: { title: 'Goes with it', layout: 'carousel', items: KETTLES } },
    { name: 'Plain', body: { layout: 'list', items: [{ id: 'x', title: 'A gift card', subtitle: 'From €10' }] } },
  ],
};

export const placeSamples: Pick<Samples, 'place_card' | 'map' | 'contact'> = {
  place_card: [
    {
      name: 'Ready',
      body: {
        name: 'Kettle & Co.',
        address: 'Mill Street 4, 10115 Berlin',
        lat: 52.5321,
        lng: 13.3849,
        category: 'Kitchen shop',
        rating: 4.6,
        reviews: 1284,
        price_level: 2,
        open_now: true,
        hours: ['Mon to Fri 9:00 to 19:00', 'Sat 10:00 to 17:00'],
        phone: '+49 30 1234567',
        image: picture('shop', 'The shop from the street'),
        actions: [{ kind: 'send', label: 'Reserve a kettle', target: 'Reserve a kettle in Mill Street', style: 'primary' }],
      },
    },
    {
      name: 'Few facts',
      body: { name: 'Depot East', address: 'Dock 9, 10245 Berlin', lat: 52.5, lng: 13.46, open_now: false, actions: [] },
    },
  ],
  map: [
    {
      name: 'A way',
      body: {
        markers: [
          { id: 'shop', lat: 52.5321, lng: 13.3849, label: 'Our shop' },
          { id: 'van', lat: 52.5219, lng: 13.4132, label: 'Your parcel now' },
          { id: 'you', lat: 52.5034, lng: 13.4419, label: 'Your door' },
        ],
        polyline: 'sds_IsfupAnFo_@jMoZjHsg@rNsXbGc`@vGoPjRkRzOwVjRgm@nP{TjRo_@jMcVvGoK',
        alt: 'The way of your parcel from our shop past Alexanderplatz to your door',
      },
    },
    {
      name: 'One place',
      body: { markers: [{ id: 'shop', lat: 52.5321, lng: 13.3849, label: 'Our shop' }], zoom: 15, alt: 'Our shop in Mill Street' },
    },
  ],
  contact: ready<'contact'>({
    name: 'Ana Lopes',
    role: 'Repairs and returns',
    channels: [
      { kind: 'phone', value: '+49 30 1234567' },
      { kind: 'email', value: 'repairs@kettle.example' },
      { kind: 'chat', value: '@kettle-help', label: 'Messenger' },
      { kind: 'url', value: 'https://kettle.example/repairs', label: 'How repairs work' },
    ],
    hours: 'Mon to Fri, 9:00 to 17:00',
  }),
};
