/** What stands where a block will be, in about its shape, so that little moves when it comes. */
import type { ComponentName } from '../block-view.ts';

type Shape = 'lines' | 'card' | 'media' | 'rows' | 'pills' | 'fields';

const SHAPES: { readonly [K in ComponentName]: Shape } = {
  text: 'lines',
  section: 'lines',
  key_points: 'card',
  quick_replies: 'pills',
  choice: 'rows',
  tags: 'pills',
  actions: 'pills',
  screens: 'rows',
  confirm_card: 'fields',
  order_tracker: 'card',
  timeline: 'card',
  checklist: 'card',
  comparison: 'rows',
  key_value: 'rows',
  info_card: 'card',
  item_list: 'rows',
  place_card: 'media',
  map: 'media',
  pass: 'media',
  code: 'card',
  contact: 'card',
  rating: 'pills',
  disclosure: 'lines',
  variant_picker: 'media',
  datetime_slots: 'pills',
  form: 'fields',
};

const BARS: Readonly<Record<Shape, readonly string[]>> = {
  lines: ['is-long', 'is-mid'],
  card: ['is-short', 'is-long', 'is-mid'],
  media: ['is-media', 'is-short', 'is-mid'],
  rows: ['is-row', 'is-row', 'is-row'],
  pills: ['is-pill', 'is-pill'],
  fields: ['is-short', 'is-field', 'is-field', 'is-press'],
};

export function Skeleton({ type, label }: { readonly type: string; readonly label: string }) {
  const shape = Object.hasOwn(SHAPES, type) ? SHAPES[type as ComponentName] : 'lines';
  return (
    <div class={`skeleton is-${shape}`}>
      <span class="unseen">{label}</span>
      {BARS[shape].map((bar, at) => (
        <span key={at} class={`bar ${bar}`} aria-hidden="true" />
      ))}
    </div>
  );
}
