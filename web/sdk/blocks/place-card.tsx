/** `place_card`: one place, with how to get there and when it is open. */
import type { BlockProps } from './block-view.ts';
import { ActionRow } from './parts/action-button.tsx';
import { number } from './parts/formats.ts';
import { Icon } from './parts/icon.tsx';
import { hrefOf, Link, mapAddress } from './parts/link.tsx';
import { Picture } from './parts/picture.tsx';
import { filled } from './words.ts';

const PRICE_LEVELS = 4;

export function PlaceCard({ body, around }: BlockProps<'place_card'>) {
  const {
    name,
    address,
    lat,
    lng,
    category,
    rating,
    reviews,
    price_level: price,
    open_now: open,
    hours = [],
    phone,
    image,
    actions,
  } = body;
  const { words, locale } = around;
  const call = phone === undefined ? undefined : hrefOf('phone', phone);
  const facts = [category, price === undefined ? undefined : '$'.repeat(Math.min(price, PRICE_LEVELS))].filter(Boolean);
  return (
    <div class="card place">
      <Picture around={around} image={image} class="is-wide" />
      <div class="inside">
        <div class="head">
          <span class="title">{name}</span>
          {open === undefined ? null : (
            <span class={`tag is-${open ? 'success' : 'neutral'}`}>{open ? words.openNow : words.closedNow}</span>
          )}
        </div>
        {rating === undefined && facts.length === 0 ? null : (
          <p class="facts">
            {rating === undefined ? null : (
              <span class="stars">
                <Icon name="star" class="is-full" />
                <b>{number(rating, locale)}</b>
                <span class="unseen">{filled(words.ratedOf, { value: number(rating, locale), scale: 5 })}</span>
                {reviews === undefined ? null : <span>({filled(words.reviews, { count: number(reviews, locale) })})</span>}
              </span>
            )}
            {facts.map((fact) => (
              <span key={fact}>{fact}</span>
            ))}
          </p>
        )}
        <p class="line">
          <Icon name="pin" />
          <Link href={mapAddress(lat, lng)} around={around} words={null}>
            {address}
          </Link>
        </p>
        {call === undefined ? null : (
          <p class="line">
            <Icon name="call" />
            <Link href={call} around={around} words={null}>
              {phone}
            </Link>
          </p>
        )}
        {hours.length === 0 ? null : (
          <details class="line">
            <summary>
              <Icon name="clock" />
              {words.hours}
              <Icon name="down" class="is-turn" />
            </summary>
            <ul class="hours">
              {hours.map((line) => (
                <li dir="auto" key={line}>
                  {line}
                </li>
              ))}
            </ul>
          </details>
        )}
        <ActionRow actions={actions} around={around} />
      </div>
    </div>
  );
}
