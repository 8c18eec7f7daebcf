/** Components about where and who: place_card, map, contact. */
import * as v from 'valibot';
import { flag, whole } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { defineComponent } from './component.ts';
import { action, checkActions, image, lines, saidAction, saidList } from './shapes.ts';
import { hasForeignScheme, isEmail, isPhone, isWebUrl } from './text-checks.ts';
import { type TextUse, usedAs } from './text-uses.ts';
import { anyList, between, count, id, list, said, uniqueIds, words } from './values.ts';

const lat = between(-90, 90);
const lng = between(-180, 180);

export const placeCard = defineComponent({
  name: 'place_card',
  description: 'One place. For a shop, an office or a venue whose position you know.',
  entries: {
    name: words(80),
    address: words(200),
    lat,
    lng,
    category: v.optional(text(40)),
    rating: v.optional(said(between(0, 5), '0 to 5.')),
    reviews: v.optional(count()),
    price_level: v.optional(said(whole(1, 4), '1 cheap to 4 expensive.')),
    open_now: v.optional(flag),
    hours: v.optional(list(words(60), 0, 7)),
    phone: v.optional(usedAs(v.pipe(text(32, 1), v.check(isPhone, 'must be a phone number')), 'phone')),
    image: v.optional(image),
    actions: anyList(action, 3),
  },
  inContext: ({ actions }, context, report) => checkActions(actions, 'actions', context, report),
  fallback: ({ name, address, category, rating, open_now: openNow, hours = [], phone, actions }) =>
    lines(
      `${name}${category ? ` (${category})` : ''}: ${address}`,
      rating !== undefined && `Rated ${rating} of 5`,
      openNow !== undefined && (openNow ? 'Open now' : 'Closed now'),
      hours.join(', '),
      phone !== undefined && `Phone: ${phone}`,
      saidList(undefined, actions.map(saidAction)),
    ),
});

export const map = defineComponent({
  name: 'map',
  description: 'Places or a way on a map. When it matters where things lie.',
  entries: {
    markers: list(v.strictObject({ id, lat, lng, label: words(40) }), 1, 20),
    zoom: v.optional(said(between(1, 20), '1 world to 20 building.')),
    polyline: v.optional(usedAs(text(4_096), 'key')),
    alt: words(300),
  },
  rules: ({ markers }, report) => uniqueIds(markers, ['markers'], report),
  fallback: ({ markers, alt }) => lines(alt, saidList(undefined, [markers.map((marker) => marker.label).join(', ')])),
});

const CHANNEL_RULES = {
  phone: { fits: isPhone, message: 'must be a phone number' },
  email: { fits: isEmail, message: 'must be an e-mail address' },
  url: { fits: isWebUrl, message: 'must be an http or https address' },
  chat: { fits: (value: string) => !hasForeignScheme(value), message: 'must be a name or an http or https address' },
} as const;

/** The name on a chat service is words. */
const CHANNEL_USES: ReadonlyMap<unknown, TextUse> = new Map<unknown, TextUse>([
  ['phone', 'phone'],
  ['email', 'email'],
  ['url', 'address'],
]);

export const contact = defineComponent({
  name: 'contact',
  description: 'How to reach a person or a team. To hand over to people, with channels you know to be right.',
  entries: {
    name: words(80),
    role: v.optional(text(60)),
    channels: list(
      v.strictObject({
        kind: v.picklist(['phone', 'email', 'chat', 'url']),
        value: usedAs(said(words(254), 'Number, address or name.'), ({ kind }) => CHANNEL_USES.get(kind) ?? 'words'),
        label: v.optional(text(40)),
      }),
      1,
      5,
    ),
    hours: v.optional(text(120)),
  },
  rules({ channels }, report) {
    for (const [index, { kind, value }] of channels.entries()) {
      const rule = CHANNEL_RULES[kind];
      if (!rule.fits(value)) report(['channels', index, 'value'], rule.message);
    }
  },
  fallback: ({ name, role, channels, hours }) =>
    lines(
      saidList(
        role ? `${name}, ${role}` : name,
        channels.map(({ kind, value, label }) => `${label || kind} ${value}`),
        ', ',
      ),
      hours,
    ),
});
