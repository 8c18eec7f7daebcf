/** Samples of components that people answer by choosing or filling in. */
import { euros, picture, refused, type Sample, type Samples } from './sample.ts';

const REPLIES = {
  replies: [
    { id: 'cart', label: 'Put it in my cart' },
    { id: 'quiet', label: 'Is it quiet?' },
    { id: 'colours', label: 'Which colours are there?' },
  ],
};

const CHOICE = {
  prompt: 'How shall it come?',
  mode: 'single' as const,
  options: [
    { id: 'standard', label: 'Standard', description: 'Two to three days, free', badge: 'Cheapest' },
    { id: 'express', label: 'Express', description: 'Tomorrow before noon, €6.90' },
    { id: 'shop', label: 'Pick it up', description: 'Mill Street 4', disabled: true },
  ],
};

const MANY = {
  prompt: 'What do you drink?',
  mode: 'multi' as const,
  options: [
    { id: 'green', label: 'Green tea' },
    { id: 'black', label: 'Black tea' },
    { id: 'coffee', label: 'Coffee' },
  ],
  min: 1,
  max: 2,
  other: { label: 'Something else' },
  submit_label: 'That is it',
};

const VARIANTS = {
  product_id: 'large',
  title: 'Large kettle',
  image: picture('large', 'The Large'),
  axes: [
    {
      id: 'colour',
      label: 'Colour',
      display: 'swatch' as const,
      options: [
        { id: 'steel', label: 'Steel', hex: '#b9bec4' },
        { id: 'ink', label: 'Ink', hex: '#1f2a44' },
        { id: 'moss', label: 'Moss', hex: '#5c7a4a' },
      ],
    },
    {
      id: 'plug',
      label: 'Plug',
      display: 'chip' as const,
      options: [
        { id: 'eu', label: 'Europe' },
        { id: 'uk', label: 'United Kingdom' },
      ],
    },
    {
      id: 'gift',
      label: 'Wrapping',
      display: 'dropdown' as const,
      options: [
        { id: 'none', label: 'None' },
        { id: 'paper', label: 'Gift paper' },
      ],
    },
  ],
  variants: ['none', 'paper'].flatMap((gift) => [
    { id: `steel-eu-${gift}`, option_ids: ['steel', 'eu', gift], price: euros('49.00'), available: true },
    { id: `steel-uk-${gift}`, option_ids: ['steel', 'uk', gift], price: euros('49.00'), available: true },
    { id: `ink-eu-${gift}`, option_ids: ['ink', 'eu', gift], price: euros('54.00'), available: true },
    { id: `moss-eu-${gift}`, option_ids: ['moss', 'eu', gift], price: euros('54.00'), available: false },
  ]),
  quantity: { min: 1, max: 5 },
};

const SLOTS = {
  prompt: 'When shall we call you?',
  timezone: 'Europe/Berlin',
  duration_min: 20,
  days: ['2026-11-24', '2026-11-25', '2026-11-26', '2026-11-27'].map((date, day) => ({
    date,
    slots: ['09:00', '09:30', '10:00', '14:30', '16:00'].map((time, at) => ({
      id: `${date}-${time}`,
      start: `${date}T${time}:00+01:00`,
      available: day !== 2 && (day + at) % 3 !== 1,
    })),
  })),
};

const FORM = {
  form_id: 'sample-form',
  title: 'Tell us what broke',
  fields: [
    { name: 'order', label: 'Order', type: 'select' as const, required: true, options: ['A-1038', 'A-1042'] },
    { name: 'what', label: 'What is broken?', type: 'long_text' as const, required: true, min: 10 },
    { name: 'email', label: 'Email', type: 'email' as const, required: true },
    { name: 'since', label: 'Since when', type: 'date' as const, max: '2026-11-23' },
    { name: 'parts', label: 'Parts', type: 'multi_select' as const, options: ['Lid', 'Cord', 'Handle', 'Base'] },
    { name: 'cups', label: 'Cups a day', type: 'number' as const, min: 1, max: 40 },
    { name: 'gift', label: 'It was a gift', type: 'boolean' as const },
  ],
  submit_label: 'Report it',
};

function states<B extends object>(body: B, ids: string[], answered: string[] | undefined = ids) {
  const open = { ...body, status: 'open' as const };
  return [
    { name: 'Open', body: open },
    { name: 'Sending', body: open, answer: { phase: 'sending', ids } },
    { name: 'Answered', body: { ...body, status: 'answered' as const, ...(answered === undefined ? {} : { selected_ids: answered }) } },
    { name: 'Superseded', body: { ...body, status: 'superseded' as const } },
    { name: 'Failed', body: open, answer: refused('This was answered already, on another device.') },
  ] as const satisfies readonly Sample<never>[] | readonly unknown[];
}

export const answerSamples: Pick<Samples, 'quick_replies' | 'choice' | 'rating' | 'variant_picker' | 'datetime_slots' | 'form'> = {
  quick_replies: [...states(REPLIES, ['quiet'])],
  choice: [
    ...states(CHOICE, ['express']),
    { name: 'Several', body: { ...MANY, status: 'open' } },
    { name: 'Several, answered', body: { ...MANY, status: 'answered', selected_ids: ['green', 'coffee'] } },
  ],
  rating: [
    ...states({ prompt: 'How did it go?', scale: 5 as const, style: 'stars' as const, comment: true }, ['4']),
    { name: 'Faces', body: { prompt: 'How was the parcel?', scale: 5, style: 'emoji', status: 'open' } },
    { name: 'Faces, answered', body: { prompt: 'How was the parcel?', scale: 3, style: 'emoji', status: 'answered', selected_ids: ['3'] } },
    { name: 'Numbers', body: { prompt: 'Would you tell a friend about us?', scale: 10, style: 'number', status: 'open' } },
    {
      name: 'Numbers, answered',
      body: { prompt: 'Would you tell a friend about us?', scale: 10, style: 'number', status: 'answered', selected_ids: ['9'] },
    },
  ],
  variant_picker: [...states(VARIANTS, ['steel', 'eu', 'paper'])],
  datetime_slots: [...states(SLOTS, ['2026-11-24-10:00'])],
  form: [
    ...states(FORM, [], undefined),
    {
      name: 'Not taken',
      body: { ...FORM, status: 'open' },
      answer: refused('Something is missing.', { path: 'values.email', message: 'must be an e-mail address' }),
    },
  ],
};
