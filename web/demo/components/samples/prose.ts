/** Samples of components that say something. */
import { picture, ready, type Samples } from './sample.ts';

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

export const proseSamples: Pick<Samples, 'text' | 'section' | 'key_points' | 'disclosure' | 'info_card' | 'code'> = {
  text: [{ name: 'Ready', body: { md: MD } }],
  section: [
    {
      name: 'Ready',
      body: {
        title: 'Delivery',
        icon: 'truck',
        md: 'Orders before 2 pm leave the same day. Standard delivery takes **two to three** working days.',
      },
    },
    { name: 'Closed', body: { title: 'Returns', icon: 'returns', md: 'You have 30 days.', collapsed: true } },
    { name: 'Opened', body: { title: 'Paying', icon: 'card', md: 'Card, invoice or instalments.', collapsed: false } },
  ],
  key_points: ready<'key_points'>({
    title: 'What matters',
    points: [
      { text: 'Free delivery from €50.', tone: 'success', sources: ['Delivery'] },
      { text: 'Islands take up to five working days.', tone: 'warning', sources: ['Delivery', 'Islands'] },
      { text: 'Every kettle has a guarantee of three years.' },
      { text: 'Descale it every three months, or the guarantee ends.', tone: 'danger' },
    ],
  }),
  disclosure: [
    { name: 'Closed', body: { summary: 'The fine print of the guarantee', md: 'Limescale is **not** covered.' } },
    {
      name: 'Opened',
      body: { summary: 'The fine print of the guarantee', md: 'Limescale is **not** covered, and neither is a dent.', open: true },
    },
  ],
  info_card: [
    {
      name: 'Info',
      body: {
        title: 'We moved',
        md: 'Our shop is now in Mill Street 4.',
        tone: 'info',
        image: picture('shop', 'The new shop'),
        actions: [{ kind: 'open_url', label: 'See the shop', target: 'https://kettle.example/shop' }],
      },
    },
    {
      name: 'Success',
      body: { title: 'Your refund is on its way', md: '€49.00 arrive within **three days**.', tone: 'success', actions: [] },
    },
    {
      name: 'Warning',
      body: {
        title: 'Delivery is late today',
        md: 'Snow on the roads: add a day.',
        tone: 'warning',
        actions: [{ kind: 'send', label: 'Tell me when it comes', target: 'Tell me when it comes', style: 'primary' }],
      },
    },
    { name: 'Danger', body: { title: 'Do not use the red cord', md: 'We recall cords sold before March.', tone: 'danger', actions: [] } },
    { name: 'Neutral', body: { title: 'Closed on Monday', md: 'We are back on Tuesday at nine.', tone: 'neutral', actions: [] } },
  ],
  code: [
    { name: 'Ready', body: { language: 'javascript', code: CODE, filename: 'assistant.js' } },
    { name: 'Plain', body: { language: 'text', code: 'KETTLE-2026-AUTUMN' } },
  ],
};
