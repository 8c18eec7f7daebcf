/** The shapes that several components share (docs/catalog.md, "Shared shapes"), with their rules and their words. */
import * as v from 'valibot';
import { ADDRESS_MAX_CHARS } from '../limits.ts';
import { flag } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import type { ModelContext, Report, Routes } from './component.ts';
import { hasForeignScheme, isEmail, isHttpsUrl, isPhone } from './text-checks.ts';
import { type TextUse, usedAs } from './text-uses.ts';
import { currency, decimal, fetchedUrl, id, said, words } from './values.ts';

export const tone = v.picklist(['neutral', 'info', 'success', 'warning', 'danger']);

export const image = v.strictObject({ url: fetchedUrl, alt: text(200) });

export const money = v.strictObject({ amount: decimal, currency });
export type Money = v.InferOutput<typeof money>;

export const optionEntries = {
  id,
  label: words(60),
  description: v.optional(text(120)),
  image: v.optional(image),
  badge: v.optional(text(20)),
  disabled: v.optional(said(flag, 'Cannot be chosen.')),
};
export const option = v.strictObject(optionEntries);

export const ACTION_KINDS = ['send', 'open_screen', 'open_url', 'copy', 'call', 'email'] as const;
export type ActionKind = (typeof ACTION_KINDS)[number];

const TARGET_RULES: Partial<Record<ActionKind, { fits(target: string): boolean; message: string }>> = {
  open_url: { fits: isHttpsUrl, message: 'must be an https address' },
  open_screen: { fits: (target) => !hasForeignScheme(target), message: 'must be the route of a screen' },
  call: { fits: isPhone, message: 'must be a phone number' },
  email: { fits: isEmail, message: 'must be an e-mail address' },
};

/** The others are words: what is sent for the person, or copied. */
const TARGET_USES: ReadonlyMap<unknown, TextUse> = new Map<unknown, TextUse>([
  ['open_url', 'address'],
  ['open_screen', 'address'],
  ['call', 'phone'],
  ['email', 'email'],
]);

export const action = v.pipe(
  v.strictObject({
    kind: v.picklist(ACTION_KINDS),
    label: words(24),
    target: usedAs(
      said(
        text(ADDRESS_MAX_CHARS, 1),
        'send: the message. open_screen: a route. open_url: https. copy: the text. call, email: number, address alone.',
      ),
      ({ kind }) => TARGET_USES.get(kind) ?? 'words',
    ),
    style: v.optional(v.picklist(['primary', 'secondary', 'danger'])),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { kind, target } = dataset.value;
    const rule = TARGET_RULES[kind];
    if (rule === undefined || rule.fits(target)) return;
    addIssue({ message: rule.message, path: [{ type: 'object', origin: 'value', input: dataset.value, key: 'target', value: target }] });
  }),
);
export type Action = v.InferOutput<typeof action>;

/** Rule of a turn: an action is of a kind the client runs, and opens only screens the manifest has. `path` leads to it. */
export function checkAction(action: Action, path: readonly (string | number)[], context: ModelContext, report: Report): void {
  const { actionKinds, routes } = context;
  if (actionKinds !== undefined && actionKinds.size > 0 && !actionKinds.has(action.kind)) {
    report([...path, 'kind'], `"${action.kind}" is not an action this client runs: use ${[...actionKinds].join(', ')}`);
  }
  if (action.kind !== 'open_screen') return;
  checkRoute(action.target, [...path, 'target'], routes, report);
  if (needsParams(routes?.get(action.target)))
    report([...path, 'target'], `"${action.target}" needs parameters, which only screens can give it`);
}

/** Whether the screen cannot be opened by its name alone. A list is no value that a screen is opened with, and so never asked for. */
export function needsParams(route: ReturnType<Routes['get']>): boolean {
  return Object.values(route?.params ?? {}).some(({ required, type }) => required && type !== 'array');
}

export function checkActions(actions: readonly Action[], path: string, context: ModelContext, report: Report): void {
  for (const [index, action] of actions.entries()) checkAction(action, [path, index], context, report);
}

/** Rule of a turn: `route` is one of the manifest's. Without routes there is nothing to check against. */
export function checkRoute(route: string, path: readonly (string | number)[], routes: Routes | undefined, report: Report): void {
  if (routes === undefined || routes.has(route)) return;
  const known = routes.size === 0 ? 'this app has no screens' : `use one of ${[...routes.keys()].join(', ')}`;
  report(path, `"${route}" is not a screen of this app: ${known}`);
}

/** `12.50 EUR`. */
export const saidMoney = (price: Money) => `${price.amount} ${price.currency}`;

/** What a button does, for a client that draws none: its label, and the target where the person can use it as it stands. */
export function saidAction(action: Action): string {
  const useful = action.kind === 'open_url' || action.kind === 'call' || action.kind === 'email' || action.kind === 'copy';
  return useful ? `${action.label}: ${action.target}` : action.label;
}

export function saidList(title: string | undefined, parts: readonly string[], separator = '; '): string {
  const joined = parts.join(separator);
  if (title === undefined || title === '') return joined;
  return joined === '' ? title : `${title}: ${joined}`;
}

/** The parts that are there, a line each: no full stop that an address at the end would swallow. */
export function lines(...parts: readonly (string | false | undefined)[]): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join('\n');
}
