/** `item_list`: things found, as a list, a grid or in a row that is moved sideways. */
import type { BlockProps, BlockSurroundings, BodyOf } from './block-view.ts';
import { ActionButton } from './parts/action-button.tsx';
import { money, number } from './parts/formats.ts';
import { Icon } from './parts/icon.tsx';
import { hrefOf, Link } from './parts/link.tsx';
import { Picture } from './parts/picture.tsx';
import { unsaidHost } from './parts/unsaid-host.ts';
import { filled } from './words.ts';

type Item = BodyOf<'item_list'>['items'][number];

interface ItemWordsProps {
  readonly item: Item;
  readonly around: BlockSurroundings;
  readonly href?: string;
}

function ItemWords({ item: { title, subtitle, image, price, badge }, around, href = '' }: ItemWordsProps) {
  const host = unsaidHost(href, title);
  return (
    <>
      <span class="frame">
        <Picture around={around} image={image} class="is-item" />
        {image === undefined ? <Icon name="box" /> : null}
        {badge ? <span class="badge">{badge}</span> : null}
      </span>
      <span class="grow">
        <b>{title}</b>
        {subtitle ? <small>{subtitle}</small> : null}
        {host && <small>({host})</small>}
      </span>
      {price === undefined ? null : <span class="price">{money(price, around.locale)}</span>}
    </>
  );
}

function ItemView({ item, around }: { readonly item: Item; readonly around: BlockSurroundings }) {
  const { tap } = item;
  const words = <ItemWords item={item} around={around} />;
  if (tap === undefined) return <div class="row">{words}</div>;
  if (tap.kind === 'send' || tap.kind === 'open_screen') {
    const press = () => (tap.kind === 'send' ? around.ask.say(tap.target) : around.ask.openScreen(tap.target, {}));
    return (
      <button type="button" class="row" onClick={press}>
        {words}
      </button>
    );
  }
  const href = tap.kind === 'open_url' ? hrefOf('url', tap.target) : undefined;
  if (href !== undefined) {
    return (
      <Link class="row" href={href} around={around} words={null}>
        <ItemWords item={item} href={href} around={around} />
      </Link>
    );
  }
  return (
    <div class="row">
      {words}
      <ActionButton action={tap} around={around} />
    </div>
  );
}

export function ItemList({ body: { title, layout, items, total }, around }: BlockProps<'item_list'>) {
  const { words, locale, ask } = around;
  const isMore = total !== undefined && total > items.length;
  const count = isMore ? filled(words.shown, { count: number(items.length, locale), total: number(total, locale) }) : undefined;
  return (
    <div class="found">
      {title || count ? (
        <div class="head">
          <span class="title">{title}</span>
          {count === undefined ? null : <span class="aside">{count}</span>}
        </div>
      ) : null}
      <ul class={`is-${layout} ${layout === 'list' ? 'card rows' : ''}`}>
        {items.map((item) => (
          <li dir="auto" key={item.id}>
            <ItemView item={item} around={around} />
          </li>
        ))}
      </ul>
      {isMore ? (
        <button type="button" class="pill" onClick={() => ask.say(words.more)}>
          {words.more}
        </button>
      ) : null}
    </div>
  );
}
