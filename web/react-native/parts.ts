/**
 * What each component of the catalog is made of, as parts that native views draw (NATIVE-2): 26 components, and a dozen parts. Pure. A body may
 * have been written by a stranger: its text is text.
 */
import { isEmail, isHttpsUrl, isPhone } from '../../protocol/catalog/text-checks.ts';
import type { BodyOf, ComponentName } from '../client/conversation/answer-blocks.ts';
import { clockTime, dated, momentWords, money } from '../sdk/blocks/parts/formats.ts';
import { type BlockWords, filled } from '../sdk/blocks/words.ts';

type Tone = 'neutral' | 'info' | 'success' | 'warning' | 'danger';
type Action = BodyOf<'actions'>['buttons'][number];

export interface Option {
  readonly id: string;
  readonly label: string;
  readonly detail?: string | undefined;
  readonly isOff?: boolean | undefined;
}

/** A question that is answered by ids. */
export interface Pick {
  readonly kind: 'pick';
  /** Each with a label of its own; of `oneOfEach` every group has one that is chosen. */
  readonly groups: readonly { readonly label?: string; readonly options: readonly Option[] }[];
  readonly oneOfEach?: boolean;
  readonly min: number;
  readonly max: number;
  /** One press answers. */
  readonly isDirect?: boolean;
  readonly submit?: string;
  /** A field for words of one's own, in the place of an option or beside it. */
  readonly other?: { readonly label: string; readonly isComment: boolean };
  /** Whether these together can be had. */
  readonly fits?: (ids: readonly string[]) => boolean;
  /** Sent as a rating, which asks the model nothing. */
  readonly isRating?: boolean;
}

export type Part =
  | { readonly kind: 'title' | 'words' | 'code'; readonly text: string; readonly tone?: Tone | undefined }
  | { readonly kind: 'prose'; readonly md: string }
  | { readonly kind: 'fold'; readonly title: string; readonly md: string; readonly isOpen: boolean }
  | { readonly kind: 'row'; readonly label: string; readonly value: string; readonly tone?: Tone | undefined; readonly copies?: boolean }
  | {
      readonly kind: 'item';
      readonly title: string;
      readonly detail?: string;
      readonly mark?: string;
      readonly image?: Image;
      readonly press?: Press;
    }
  | { readonly kind: 'tags'; readonly items: readonly { readonly label: string; readonly tone?: Tone | undefined }[] }
  | { readonly kind: 'image'; readonly image: Image }
  | { readonly kind: 'buttons'; readonly buttons: readonly (Press & { readonly label: string; readonly style?: Action['style'] })[] }
  | Pick
  | { readonly kind: 'form'; readonly body: BodyOf<'form'> }
  | { readonly kind: 'card'; readonly body: BodyOf<'confirm_card'> };

type Image = { readonly url: string; readonly alt: string };

/** What a press does: a link is of https, mailto or tel. */
export type Press =
  | { readonly does: 'send' | 'copy' | 'link'; readonly target: string }
  | { readonly does: 'screen'; readonly target: string; readonly params: Readonly<Record<string, unknown>> };

export interface Told {
  readonly words: BlockWords;
  readonly locale: string;
}

const title = (text: string | undefined): Part[] => (text ? [{ kind: 'title', text }] : []);
const words = (...texts: readonly (string | undefined)[]): Part[] =>
  texts.flatMap((text) => (text ? [{ kind: 'words', text } as const] : []));
const row = (label: string, value: string | undefined, copies = false): Part[] => (value ? [{ kind: 'row', label, value, copies }] : []);
const image = (of: Image | undefined): Part[] => (of === undefined || !isHttpsUrl(of.url) ? [] : [{ kind: 'image', image: of }]);
const joined = (...texts: readonly (string | undefined)[]) => texts.filter((text) => text).join(' · ');

function pressOf(kind: Action['kind'] | 'phone' | 'chat' | 'url', target: string): Press | undefined {
  if (kind === 'send' || kind === 'copy') return { does: kind, target };
  if (kind === 'open_screen') return { does: 'screen', target, params: {} };
  if (kind === 'email') return isEmail(target) ? { does: 'link', target: `mailto:${target}` } : undefined;
  if (kind === 'call' || kind === 'phone')
    return isPhone(target) ? { does: 'link', target: `tel:${target.replaceAll(/[^\d+*#]/g, '')}` } : undefined;
  return isHttpsUrl(target) ? { does: 'link', target } : undefined;
}

function buttons(actions: readonly Action[] | undefined): Part[] {
  const found = (actions ?? []).flatMap(({ kind, target, label, style }) => {
    const press = pressOf(kind, target);
    return press === undefined ? [] : [{ ...press, label, style }];
  });
  return found.length === 0 ? [] : [{ kind: 'buttons', buttons: found }];
}

const MARKS: Readonly<Record<string, string>> = { done: '✓', current: '●', pending: '○', upcoming: '○', failed: '✕' };

/** The maps of the platform open it. */
const mapAddress = (lat: number, lng: number) => `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lng}#map=16/${lat}/${lng}`;

type Views = { readonly [K in ComponentName]: (body: BodyOf<K>, told: Told) => readonly Part[] };

const VIEWS: Views = {
  text: ({ md }) => [{ kind: 'prose', md }],
  section: ({ title: text, md, collapsed }) =>
    collapsed === undefined ? [...title(text), { kind: 'prose', md }] : [{ kind: 'fold', title: text, md, isOpen: !collapsed }],
  key_points: ({ title: text, points, links = [] }) => [
    ...title(text),
    ...points.map(({ text: point, tone, sources }): Part => {
      const url = links.find(({ source }) => sources?.includes(source))?.url;
      const press = url === undefined ? undefined : pressOf('url', url);
      return {
        kind: 'item',
        mark: tone === 'danger' || tone === 'warning' ? '!' : '•',
        title: point,
        detail: joined(...(sources ?? [])),
        ...(press && { press }),
      };
    }),
  ],
  quick_replies: ({ replies }) => [{ kind: 'pick', groups: [{ options: replies }], min: 1, max: 1, isDirect: true }],
  choice: ({ prompt, mode, options, min = 1, max = options.length, other, submit_label: submit }, { words: said }) => [
    ...title(prompt),
    {
      kind: 'pick',
      groups: [
        {
          options: options.map(({ id, label, description, badge, disabled }) => ({
            id,
            label,
            detail: joined(description, badge),
            isOff: disabled,
          })),
        },
      ],
      ...(mode === 'single' ? { min: 1, max: 1, isDirect: true } : { min, max, submit: submit ?? said.submit }),
      ...(other === undefined ? {} : { other: { label: other.label, isComment: false } }),
    },
  ],
  tags: ({ label, items }) => [...words(label), { kind: 'tags', items }],
  actions: ({ buttons: all }) => buttons(all),
  screens: ({ items }) =>
    items.map(({ route, title: text, description = '', params = {} }) => ({
      kind: 'item',
      title: text,
      detail: description,
      press: { does: 'screen', target: route, params },
    })),
  confirm_card: (body) => [{ kind: 'card', body }],
  order_tracker: (
    { order_id: id, status, steps, eta, carrier, tracking_number: number, tracking_url: url, items = [], actions = [] },
    { words: said, locale },
  ) => [
    ...title(filled(said.order, { id })),
    ...words(said[status]),
    ...steps.map(
      ({ label, state, at }): Part => ({
        kind: 'item',
        mark: MARKS[state] ?? '○',
        title: label,
        detail: at ? momentWords(at, locale) : '',
      }),
    ),
    ...words(eta?.from || eta?.until ? filled(said.arrives, { when: momentWords(eta.until ?? eta.from ?? '', locale) }) : undefined),
    ...row(said.carrier, carrier),
    ...row(said.trackingNumber, number, true),
    ...items.map(
      ({ name, quantity, price, image: of }): Part => ({
        kind: 'item',
        title: `${quantity} × ${name}`,
        detail: price ? money(price, locale) : '',
        ...(of && isHttpsUrl(of.url) ? { image: of } : {}),
      }),
    ),
    ...buttons([...(url === undefined ? [] : [{ kind: 'open_url', label: said.track, target: url } as const]), ...actions]),
  ],
  timeline: ({ title: text, events }, { locale }) => [
    ...title(text),
    ...events.map(
      ({ title: what, at, detail, state }): Part => ({
        kind: 'item',
        mark: MARKS[state] ?? '○',
        title: what,
        detail: joined(at && momentWords(at, locale), detail),
      }),
    ),
  ],
  checklist: ({ title: text, items }, { words: said }) => [
    ...title(text),
    ...items.map(({ label, done, detail = '' }): Part => ({ kind: 'item', mark: done ? '✓' : '○', title: label, detail })),
    ...words(filled(said.doneCount, { done: items.filter(({ done }) => done).length, total: items.length })),
  ],
  comparison: ({ columns, rows, recommended_id: best }, { words: said, locale }) =>
    columns.flatMap(({ id, name, badge, image: of }, at): readonly Part[] => [
      { kind: 'title', text: joined(name, badge, id === best ? said.recommended : undefined) },
      ...image(of),
      ...rows.flatMap(({ label, values }) => {
        const value = values[at];
        return row(
          label,
          typeof value === 'boolean' ? (value ? said.yes : said.no) : typeof value === 'object' ? money(value, locale) : value,
        );
      }),
    ]),
  key_value: ({ title: text, rows }) => [
    ...title(text),
    ...rows.map(({ label, value, tone, copyable = false }): Part => ({ kind: 'row', label, value, tone, copies: copyable })),
  ],
  info_card: ({ title: text, md, tone, image: of, actions }) => [
    { kind: 'title', text, tone },
    ...image(of),
    { kind: 'prose', md },
    ...buttons(actions),
  ],
  item_list: ({ title: text, items, total }, { words: said, locale }) => [
    ...title(text),
    ...items.map(({ title: what, subtitle, image: of, price, badge, tap }): Part => {
      const press = tap === undefined ? undefined : pressOf(tap.kind, tap.target);
      const shown = of && isHttpsUrl(of.url) ? { image: of } : {};
      return {
        kind: 'item',
        title: what,
        detail: joined(subtitle, price && money(price, locale), badge),
        ...shown,
        ...(press && { press }),
      };
    }),
    ...words(total === undefined || total <= items.length ? undefined : filled(said.shown, { count: items.length, total })),
  ],
  place_card: (
    { name, address, lat, lng, category, rating, reviews, price_level: level, open_now: isOpen, hours, phone, image: of, actions = [] },
    { words: said },
  ) => [
    ...title(name),
    ...image(of),
    ...words(
      joined(
        category,
        level === undefined ? undefined : '$'.repeat(level),
        isOpen === undefined ? undefined : isOpen ? said.openNow : said.closedNow,
      ),
      joined(
        rating === undefined ? undefined : filled(said.ratedOf, { value: rating, scale: 5 }),
        reviews === undefined ? undefined : filled(said.reviews, { count: reviews }),
      ),
      address,
      hours?.join('\n'),
    ),
    ...buttons([
      { kind: 'open_url', label: said.directions, target: mapAddress(lat, lng) },
      ...(phone === undefined ? [] : [{ kind: 'call', label: said.call, target: phone } as const]),
      ...actions,
    ]),
  ],
  map: ({ markers, alt }) => [
    ...words(alt),
    ...markers.map(
      ({ lat, lng, label }): Part => ({ kind: 'item', mark: '◉', title: label, press: { does: 'link', target: mapAddress(lat, lng) } }),
    ),
  ],
  pass: ({ title: text, barcode, fields = [], valid_from: from, valid_until: until }, { words: said, locale }) => [
    ...title(text),
    ...fields.flatMap(({ label, value }) => row(label, value)),
    ...words(
      from && filled(said.validFrom, { when: momentWords(from, locale) }),
      until && filled(said.validUntil, { when: momentWords(until, locale) }),
    ),
    // What the code says: to scan it is for the screen of a device that can draw it.
    ...(barcode === undefined ? [] : [{ kind: 'code', text: barcode.value } as const, ...words(barcode.alt)]),
  ],
  code: ({ code, filename }, { words: said }) => [
    ...words(filename),
    { kind: 'code', text: code },
    { kind: 'buttons', buttons: [{ does: 'copy', target: code, label: said.copy }] },
  ],
  contact: ({ name, role, channels, hours }, { words: said }) => [
    ...title(name),
    ...words(role),
    ...channels.map(({ kind, value, label }): Part => {
      const press = pressOf(kind === 'phone' ? 'call' : kind === 'email' ? 'email' : 'url', value);
      const detail = label ?? { phone: said.call, email: said.email, chat: said.chat, url: said.website }[kind];
      return { kind: 'item', title: value, detail, ...(press && { press }) };
    }),
    ...row(said.hours, hours),
  ],
  rating: ({ prompt, scale, comment }, { words: said }) => [
    ...title(prompt),
    {
      kind: 'pick',
      groups: [{ options: Array.from({ length: scale }, (_, at) => ({ id: String(at + 1), label: String(at + 1) })) }],
      ...{ min: 1, max: 1, isRating: scale <= 5, submit: said.send },
      ...(comment ? { other: { label: said.comment, isComment: true } } : { isDirect: true }),
    },
  ],
  disclosure: ({ summary, md, open = false }) => [{ kind: 'fold', title: summary, md, isOpen: open }],
  variant_picker: ({ title: text, image: of, axes, variants }, { words: said }) => [
    ...title(text),
    ...image(of),
    {
      kind: 'pick',
      groups: axes.map(({ label, options }) => ({
        label,
        options: options.map(({ id, label: name, disabled }) => ({ id, label: name, isOff: disabled })),
      })),
      ...{ oneOfEach: true, min: axes.length, max: axes.length, submit: said.addChoice },
      fits: (ids) => variants.some(({ available, option_ids: each }) => available && ids.every((id) => each.includes(id))),
    },
  ],
  datetime_slots: ({ prompt, timezone, duration_min: minutes, days }, { words: said, locale }) => [
    ...title(prompt),
    ...words(joined(filled(said.times, { zone: timezone }), minutes === undefined ? undefined : filled(said.minutes, { count: minutes }))),
    {
      kind: 'pick',
      groups: days.map(({ date, slots }) => ({
        label: dated(`${date}T12:00:00Z`, locale, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' }),
        options: slots.map(({ id, start, available }) => ({ id, label: clockTime(start, locale, timezone), isOff: !available })),
      })),
      ...{ min: 1, max: 1, isDirect: true },
    },
  ],
  form: (body) => [...title(body.title), { kind: 'form', body }],
};

/** All that are drawn, for the handshake. */
export const COMPONENTS = Object.keys(VIEWS);

/** Parts of a block; undefined for a component that is not drawn. The body is what the service's schema for its type has let through. */
export function partsOf(type: string, body: Readonly<Record<string, unknown>>, told: Told): readonly Part[] | undefined {
  if (!Object.hasOwn(VIEWS, type)) return undefined;
  return (VIEWS[type as ComponentName] as unknown as (body: unknown, told: Told) => readonly Part[])(body, told);
}
