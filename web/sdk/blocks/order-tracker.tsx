/** `order_tracker`: where an order stands, when it comes, what is in it. */
import type { BlockProps, BlockSurroundings, BodyOf } from './block-view.ts';
import { ActionRow } from './parts/action-button.tsx';
import { CopyButton } from './parts/copy-button.tsx';
import { clockTime, dayWords, momentWords, money } from './parts/formats.ts';
import { StepMark } from './parts/icon.tsx';
import { hrefOf, Link } from './parts/link.tsx';
import { Picture } from './parts/picture.tsx';
import { filled } from './words.ts';

type Body = BodyOf<'order_tracker'>;

const STATUS_TONES: Readonly<Partial<Record<Body['status'], string>>> = {
  delivered: 'success',
  delayed: 'warning',
  cancelled: 'danger',
  returned: 'neutral',
};

function etaWords({ from, until }: NonNullable<Body['eta']>, around: BlockSurroundings): string | undefined {
  const at = until ?? from;
  if (at === undefined) return undefined;
  const day = dayWords(at, around);
  const isSameDay = from !== undefined && until !== undefined && from !== until && dayWords(from, around) === day;
  const when = isSameDay ? `${day}, ${clockTime(from, around.locale)}–${clockTime(until, around.locale)}` : day;
  return filled(around.words.arrives, { when });
}

function Tracking({ body, around }: { readonly body: Body; readonly around: BlockSurroundings }) {
  const { carrier, tracking_number: tracking, tracking_url: url } = body;
  const href = url === undefined ? undefined : hrefOf('url', url);
  const { words } = around;
  if (!carrier && !tracking && href === undefined) return null;
  return (
    <div class="tracking">
      <span>
        {carrier ? `${carrier} ` : ''}
        {tracking ? <code>{tracking}</code> : null}
      </span>
      {tracking ? <CopyButton text={tracking} name={words.trackingNumber} around={around} /> : null}
      {href === undefined ? null : (
        <Link href={href} around={around} words={words.track}>
          {words.track}
        </Link>
      )}
    </div>
  );
}

function Parcel({ items, around }: { readonly items: Body['items']; readonly around: BlockSurroundings }) {
  if (items === undefined || items.length === 0) return null;
  return (
    <ul class="parcel" aria-label={around.words.items}>
      {items.map(({ name, quantity, image, price }) => (
        <li dir="auto" key={name}>
          <Picture around={around} image={image} class="is-thumb" />
          <span class="grow">
            {quantity > 1 ? <span class="times">{quantity} × </span> : null}
            {name}
          </span>
          {price === undefined ? null : <span class="price">{money(price, around.locale)}</span>}
        </li>
      ))}
    </ul>
  );
}

export function OrderTracker({ body, around }: BlockProps<'order_tracker'>) {
  const { order_id: order, status, steps, eta, items, actions } = body;
  const { words, locale } = around;
  const arrives = eta === undefined || status === 'delivered' || status === 'cancelled' ? undefined : etaWords(eta, around);
  const said = { done: words.done, current: words.current, pending: words.upcoming, failed: words.failedStep };
  return (
    <div class="card tracker">
      <div class="head">
        <span>
          <span class="title">{filled(words.order, { id: order })}</span>
          {arrives === undefined ? null : <span class="arrives"> · {arrives}</span>}
        </span>
        <span class={`tag is-${STATUS_TONES[status] ?? 'info'}`}>{words[status]}</span>
      </div>
      <ol class={`track ${steps.length > 4 ? 'is-many' : ''}`}>
        {steps.map(({ label, state, at }, index) => (
          <li dir="auto" key={index} class={`stop is-${state}`} {...(state === 'current' ? { 'aria-current': 'step' as const } : {})}>
            <StepMark state={state} />
            <span>
              {label}
              <span class="unseen"> ({said[state]})</span>
              {at === undefined ? null : <time dateTime={at}>{momentWords(at, locale)}</time>}
            </span>
          </li>
        ))}
      </ol>
      <Parcel items={items} around={around} />
      <Tracking body={body} around={around} />
      <ActionRow actions={actions} around={around} />
    </div>
  );
}
