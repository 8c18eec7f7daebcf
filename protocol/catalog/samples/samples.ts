/** One set of samples for all components: shown on the page of components and by the offline model, and tried in tests. */
import { LISTS } from './lists.ts';
import { PROSE } from './prose.ts';
import { euros, picture, type Samples } from './sample.ts';

/** Components that a person answers. */
const ASKED = {
  quick_replies: {
    Open: {
      replies: [
        { id: 'cart', label: 'Put it in my cart' },
        { id: 'quiet', label: 'Is it quiet?' },
        { id: 'colours', label: 'Which colours are there?' },
      ],
    },
  },
  choice: {
    Open: {
      prompt: 'How shall it come?',
      mode: 'single',
      options: [
        { id: 'standard', label: 'Standard', description: 'Two to three days, free', badge: 'Cheapest' },
        { id: 'express', label: 'Express', description: 'Tomorrow before noon, €6.90' },
        { id: 'shop', label: 'Pick it up', description: 'Mill Street 4', disabled: true },
      ],
    },
    Several: {
      prompt: 'What do you drink?',
      mode: 'multi',
      options: [
        { id: 'green', label: 'Green tea' },
        { id: 'black', label: 'Black tea' },
        { id: 'coffee', label: 'Coffee' },
      ],
      min: 1,
      max: 2,
      other: { label: 'Something else' },
      submit_label: 'That is it',
    },
  },
  rating: {
    Open: { prompt: 'How did it go?', scale: 5, style: 'stars', comment: true },
    Faces: { prompt: 'How was the parcel?', scale: 5, style: 'emoji' },
    Numbers: { prompt: 'Would you tell a friend about us?', scale: 10, style: 'number' },
  },
  variant_picker: {
    Open: {
      product_id: 'large',
      title: 'Large kettle',
      image: picture('large', 'The Large'),
      axes: [
        {
          id: 'colour',
          label: 'Colour',
          display: 'swatch',
          options: [
            { id: 'steel', label: 'Steel', hex: '#b9bec4' },
            { id: 'ink', label: 'Ink', hex: '#1f2a44' },
            { id: 'moss', label: 'Moss', hex: '#5c7a4a' },
          ],
        },
        {
          id: 'plug',
          label: 'Plug',
          display: 'chip',
          options: [
            { id: 'eu', label: 'Europe' },
            { id: 'uk', label: 'United Kingdom' },
          ],
        },
        {
          id: 'gift',
          label: 'Wrapping',
          display: 'dropdown',
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
    },
  },
  datetime_slots: {
    Open: {
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
    },
  },
  form: {
    Open: {
      title: 'Tell us what broke',
      fields: [
        { name: 'order', label: 'Order', type: 'select', required: true, options: ['A-1038', 'A-1042'] },
        { name: 'what', label: 'What is broken?', type: 'long_text', required: true, min: 10 },
        { name: 'email', label: 'Email', type: 'email', required: true },
        { name: 'since', label: 'Since when', type: 'date', max: '2026-11-23' },
        { name: 'parts', label: 'Parts', type: 'multi_select', options: ['Lid', 'Cord', 'Handle', 'Base'] },
        { name: 'cups', label: 'Cups a day', type: 'number', min: 1, max: 40 },
        { name: 'gift', label: 'It was a gift', type: 'boolean' },
      ],
      submit_label: 'Report it',
    },
  },
  confirm_card: {
    Open: {
      invocation_id: 'inv_sample',
      title: 'Cancel order A-1042?',
      summary: 'The order has not been packed yet. €49.00 go back to your card within three days.',
      risk: 'destructive',
      fields: [
        { param: 'item', label: 'Item', display: 'Large kettle', editable: false, type: 'string', value: 'Large kettle' },
        { param: 'refund', label: 'Refund', display: '€49.00 to your card', editable: false, type: 'string' },
        {
          param: 'reason',
          label: 'Reason',
          display: 'Changed my mind',
          value: 'Changed my mind',
          editable: true,
          type: 'string',
          enum: ['Changed my mind', 'Found it cheaper', 'Takes too long'],
        },
      ],
      confirm_label: 'Cancel the order',
      decline_label: 'Keep the order',
      type_to_confirm: 'cancel',
      expires_at: '2026-11-23T10:30:00Z',
      edit_state: 'idle',
      status: 'pending',
    },
  },
} satisfies Samples;

export const SAMPLES = { ...PROSE, ...LISTS, ...ASKED };
