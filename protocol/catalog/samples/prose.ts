/** Samples of components that say something, and of where and who. */
import { picture, type Samples } from './sample.ts';

const MD =
  'The **Large** holds twice as much and keeps warm. If you mostly make one cup, the *Classic* is enough.\n\n- 1.7 l, eight cups\n- keeps warm for two hours\n- [How it is made](https://kettle.example/making)';

const CODE = `import { init } from 'https://assistant.example/sdk/web/latest/assistant.js';

// The key is public: it names the app, it proves nothing.
const assistant = await init({ key: 'rd_pk_live_…', locale: 'en' });
assistant.registerAction({ name: 'get_orders', risk: 'read' }, async () => {
  const answer = await fetch('/api/orders?limit=10');
  return answer.ok ? answer.json() : [];
});
`;

export const PROSE = {
  text: { Ready: { md: MD } },
  section: {
    Ready: {
      title: 'Delivery',
      icon: 'truck',
      md: 'Orders before 2 pm leave the same day. Standard delivery takes **two to three** working days.',
    },
    Closed: { title: 'Returns', icon: 'returns', md: 'You have 30 days.', collapsed: true },
    Opened: { title: 'Paying', icon: 'card', md: 'Card, invoice or instalments.', collapsed: false },
  },
  key_points: {
    Ready: {
      title: 'What matters',
      points: [
        { text: 'Free delivery from €50.', tone: 'success', sources: ['Delivery'] },
        { text: 'Islands take up to five working days.', tone: 'warning', sources: ['Delivery', 'Islands'] },
        { text: 'Every kettle has a guarantee of three years.' },
        { text: 'Descale it every three months, or the guarantee ends.', tone: 'danger' },
      ],
    },
  },
  disclosure: {
    Closed: { summary: 'The fine print of the guarantee', md: 'Limescale is **not** covered.' },
    Opened: { summary: 'The fine print of the guarantee', md: 'Limescale is **not** covered, and neither is a dent.', open: true },
  },
  info_card: {
    Info: {
      title: 'We moved',
      md: 'Our shop is now in Mill Street 4.',
      tone: 'info',
      image: picture('shop', 'The new shop'),
      actions: [{ kind: 'open_url', label: 'See the shop', target: 'https://kettle.example/shop' }],
    },
    Success: { title: 'Your refund is on its way', md: '€49.00 arrive within **three days**.', tone: 'success', actions: [] },
    Warning: {
      title: 'Delivery is late today',
      md: 'Snow on the roads: add a day.',
      tone: 'warning',
      actions: [{ kind: 'send', label: 'Tell me when it comes', target: 'Tell me when it comes', style: 'primary' }],
    },
    Danger: { title: 'Do not use the red cord', md: 'We recall cords sold before March.', tone: 'danger', actions: [] },
    Neutral: { title: 'Closed on Monday', md: 'We are back on Tuesday at nine.', tone: 'neutral', actions: [] },
  },
  code: {
    Ready: { language: 'javascript', code: CODE, filename: 'assistant.js' },
    Plain: { language: 'text', code: 'KETTLE-2026-AUTUMN' },
  },
  place_card: {
    Ready: {
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
    'Few facts': { name: 'Depot East', address: 'Dock 9, 10245 Berlin', lat: 52.5, lng: 13.46, open_now: false, actions: [] },
  },
  map: {
    'A way': {
      markers: [
        { id: 'shop', lat: 52.5321, lng: 13.3849, label: 'Our shop' },
        { id: 'van', lat: 52.5219, lng: 13.4132, label: 'Your parcel now' },
        { id: 'you', lat: 52.5034, lng: 13.4419, label: 'Your door' },
      ],
      polyline: 'sds_IsfupAnFo_@jMoZjHsg@rNsXbGc`@vGoPjRkRzOwVjRgm@nP{TjRo_@jMcVvGoK',
      alt: 'The way of your parcel from our shop past Alexanderplatz to your door',
    },
    'One place': { markers: [{ id: 'shop', lat: 52.5321, lng: 13.3849, label: 'Our shop' }], zoom: 15, alt: 'Our shop in Mill Street' },
  },
  contact: {
    Ready: {
      name: 'Ana Lopes',
      role: 'Repairs and returns',
      channels: [
        { kind: 'phone', value: '+49 30 1234567' },
        { kind: 'email', value: 'repairs@kettle.example' },
        { kind: 'chat', value: '@kettle-help', label: 'Messenger' },
        { kind: 'url', value: 'https://kettle.example/repairs', label: 'How repairs work' },
      ],
      hours: 'Mon to Fri, 9:00 to 17:00',
    },
  },
} satisfies Samples;
