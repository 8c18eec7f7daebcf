/** `pass`: a ticket or card to show. Its code is drawn dark on white in both schemes, because scanners want it so. */
import type { BlockProps, BlockSurroundings, BodyOf } from './block-view.ts';
import { dated } from './parts/formats.ts';
import { Icon, type IconName } from './parts/icon.tsx';
import { useLazy } from './parts/lazy-hook.ts';
import { filled } from './words.ts';

type Body = BodyOf<'pass'>;

const loadBarcode = () => import('./lazy/barcode.tsx');

const ICONS: Readonly<Record<Body['kind'], IconName>> = { boarding: 'out', event: 'star', coupon: 'card', loyalty: 'card', ticket: 'box' };

function Code({ barcode, around }: { readonly barcode: NonNullable<Body['barcode']>; readonly around: BlockSurroundings }) {
  const drawing = useLazy(loadBarcode, around);
  const { format, value, alt } = barcode;
  return (
    <div class="barcode">
      <div class={`bars is-${format}`} role="img" aria-label={`${around.words.code}: ${alt || value}`}>
        {drawing ? <drawing.Barcode format={format} value={value} /> : null}
      </div>
      <p>{alt || value}</p>
    </div>
  );
}

function validWords({ valid_from: from, valid_until: until }: Body, { words, locale, now }: BlockSurroundings): string | undefined {
  const day = (at: string) => dated(at, locale, { day: 'numeric', month: 'short', year: 'numeric' });
  if (until !== undefined && Date.parse(until) < now()) return filled(words.expiredPass, { when: day(until) });
  if (from !== undefined && Date.parse(from) > now()) return filled(words.validFrom, { when: day(from) });
  return until === undefined ? undefined : filled(words.validUntil, { when: day(until) });
}

export function Pass({ body, around }: BlockProps<'pass'>) {
  const { kind, title, barcode, fields, valid_until: until } = body;
  const valid = validWords(body, around);
  const isOver = until !== undefined && Date.parse(until) < around.now();
  return (
    <article class={`pass is-${kind} ${isOver ? 'is-past' : ''}`} aria-label={title}>
      <div class="stub">
        <Icon name={ICONS[kind]} />
        <span class="title">{title}</span>
      </div>
      {fields === undefined || fields.length === 0 ? null : (
        <dl>
          {fields.map(({ label, value }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value === '' ? '–' : value}</dd>
            </div>
          ))}
        </dl>
      )}
      {barcode === undefined ? null : <Code barcode={barcode} around={around} />}
      {valid === undefined ? null : (
        <p class={`note ${isOver ? 'is-bad' : ''}`}>
          <Icon name="clock" />
          {valid}
        </p>
      )}
    </article>
  );
}
