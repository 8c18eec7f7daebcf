/** Owns how the offline model reports what an action returned: sentences, a table of values or a list, or why there is none. */

import { clipWhole } from '../../../protocol/placeholder.ts';
import { isObject } from '../../../protocol/schema/bounded.ts';
import { type Outcome, readOutcome } from './outcome.ts';
import { capitalised, cutWords, enumerated, escapeMarkdown, spokenName } from './words.ts';

export interface ComponentCall {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ResultReport {
  readonly text: string;
  readonly component: ComponentCall | undefined;
}

interface Row {
  readonly label: string;
  readonly value: string;
}

type PlainObject = Readonly<Record<string, unknown>>;

// The catalog's bounds (BLOCK-4): key_value `rows[1–20] { label ≤40, value ≤200 }`, item_list `items[1–20] { title ≤80, subtitle ≤120 }`, `title? ≤80`.
const ROWS_MAX = 20;
const LABEL_MAX_CHARS = 40;
const VALUE_MAX_CHARS = 200;
const ITEMS_MAX = 20;
const TITLE_MAX_CHARS = 80;
const SUBTITLE_MAX_CHARS = 120;
/** A list in prose beyond this is not read. */
const TEXT_ITEMS_MAX = 10;
/** So many values still read as a sentence. */
const SENTENCE_ROWS_MAX = 4;
/** Objects inside objects become rows of their own down to here; deeper ones are no data to read out. */
const FLATTEN_DEPTH_MAX = 2;
const SUBTITLE_PARTS_MAX = 3;
const REASON_MAX_CHARS = 300;
/** What names a thing, in the order of preference. */
const TITLE_KEYS = ['title', 'name', 'label', 'subject', 'summary', 'description', 'id'];

/** A scalar (or a list of scalars, or an amount with its currency) in words; undefined for anything else and for nothing. */
function spoken(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim();
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) {
    const parts = value.map((item) => (typeof item === 'object' ? undefined : spoken(item)));
    return parts.length === 0 || parts.includes(undefined) ? undefined : parts.join(', ');
  }
  if (!isObject(value)) return undefined;
  const { amount, currency, ...rest } = value;
  const isMoney =
    (typeof amount === 'string' || typeof amount === 'number') && typeof currency === 'string' && Object.keys(rest).length === 0;
  return isMoney ? `${amount} ${currency}` : undefined;
}

function rowsOf(value: PlainObject, prefix = '', depth = 0): Row[] {
  return Object.entries(value).flatMap(([key, item]): Row[] => {
    const label = `${prefix} ${spokenName(key)}`.trim();
    const words = spoken(item);
    if (words !== undefined) return label === '' ? [] : [{ label, value: words }];
    return isObject(item) && depth < FLATTEN_DEPTH_MAX ? rowsOf(item, label, depth + 1) : [];
  });
}

/** The list of things in a result: the result itself, or the one property of it that is such a list. */
function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  const lists = Object.values(value).filter((item): item is unknown[] => Array.isArray(item) && (item.length === 0 || item.some(isObject)));
  return lists.length === 1 ? lists[0] : undefined;
}

function itemOf(value: unknown, index: number): { id: string; title: string; subtitle?: string } | undefined {
  const id = `item_${index + 1}`;
  if (!isObject(value)) {
    const title = spoken(value);
    return title === undefined ? undefined : { id, title: cutWords(title, TITLE_MAX_CHARS) };
  }
  const rows = rowsOf(value);
  const key = TITLE_KEYS.find((each) => typeof value[each] === 'string' && value[each] !== '');
  const named = key === undefined ? rows[0] : rows.find((row) => row.label === spokenName(key));
  if (named === undefined) return undefined;
  const others = rows.filter((row) => row !== named).slice(0, SUBTITLE_PARTS_MAX);
  const subtitle = others.map((row) => `${capitalised(row.label)}: ${row.value}`).join(' · ');
  const title = cutWords(named.value, TITLE_MAX_CHARS);
  return subtitle === '' ? { id, title } : { id, title, subtitle: cutWords(subtitle, SUBTITLE_MAX_CHARS) };
}

function reportList(spokenAction: string, values: readonly unknown[], offered: ReadonlySet<string>): ResultReport {
  const items = values.slice(0, ITEMS_MAX).flatMap((value, index) => itemOf(value, index) ?? []);
  if (items.length === 0) return { text: `**${spokenAction}** found nothing.`, component: undefined };
  const count = values.length === 1 ? 'one result' : `${values.length} results`;
  if (offered.has('item_list')) {
    const body = {
      title: clipWhole(spokenAction, TITLE_MAX_CHARS),
      layout: 'list',
      items,
      ...(values.length > items.length ? { total: values.length } : {}),
    };
    return { text: `**${spokenAction}** found ${count}.`, component: { name: 'item_list', body } };
  }
  const lines = items
    .slice(0, TEXT_ITEMS_MAX)
    .map(({ title, subtitle }) => `- **${escapeMarkdown(title)}**${subtitle === undefined ? '' : `: ${escapeMarkdown(subtitle)}`}`);
  const more = values.length > lines.length ? `\n\nThese are the first ${lines.length}.` : '';
  return { text: `**${spokenAction}** found ${count}:\n\n${lines.join('\n')}${more}`, component: undefined };
}

function reportValues(spokenAction: string, rows: readonly Row[], offered: ReadonlySet<string>): ResultReport {
  const short = rows
    .slice(0, SENTENCE_ROWS_MAX)
    .map((row) => `${escapeMarkdown(row.label)} is ${escapeMarkdown(cutWords(row.value, VALUE_MAX_CHARS))}`);
  const sentence = capitalised(enumerated(short));
  const closed = /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
  if (offered.has('key_value')) {
    const shown = rows.slice(0, ROWS_MAX).map((row) => ({
      label: clipWhole(capitalised(row.label), LABEL_MAX_CHARS),
      value: clipWhole(row.value, VALUE_MAX_CHARS),
    }));
    return { text: closed, component: { name: 'key_value', body: { title: clipWhole(spokenAction, TITLE_MAX_CHARS), rows: shown } } };
  }
  if (rows.length <= SENTENCE_ROWS_MAX) return { text: closed, component: undefined };
  const lines = rows
    .slice(0, ROWS_MAX)
    .map((row) => `- **${escapeMarkdown(capitalised(row.label))}:** ${escapeMarkdown(cutWords(row.value, VALUE_MAX_CHARS))}`);
  return { text: `This is what **${spokenAction}** returned:\n\n${lines.join('\n')}`, component: undefined };
}

/** What a result brings along to be shown: the body of a component at hand under its name, and what is said with it. */
function shownBy(value: unknown, offered: ReadonlySet<string>): ResultReport | undefined {
  if (!isObject(value)) return undefined;
  const [name] = Object.keys(value).filter((key) => offered.has(key) && isObject(value[key]));
  const body = name === undefined ? undefined : value[name];
  if (name === undefined || !isObject(body)) return undefined;
  const said = typeof value.say === 'string' ? escapeMarkdown(cutWords(value.say.trim(), REASON_MAX_CHARS)) : '';
  return { text: said, component: { name, body } };
}

function reportValue(spokenAction: string, value: unknown, offered: ReadonlySet<string>): ResultReport {
  const shown = shownBy(value, offered);
  if (shown !== undefined) return shown;
  const list = listIn(value);
  if (list !== undefined) return reportList(spokenAction, list, offered);
  if (isObject(value)) {
    const rows = rowsOf(value);
    return rows.length === 0 ? { text: `Done: **${spokenAction}**.`, component: undefined } : reportValues(spokenAction, rows, offered);
  }
  const words = spoken(value);
  const text =
    words === undefined
      ? `Done: **${spokenAction}**.`
      : `**${spokenAction}** returned: ${escapeMarkdown(cutWords(words, REASON_MAX_CHARS))}`;
  return { text, component: undefined };
}

function reportProblem(spokenAction: string, outcome: Exclude<Outcome, { kind: 'ok' }>): string {
  const name = `**${spokenAction}**`;
  switch (outcome.kind) {
    case 'error': {
      const reason = escapeMarkdown(cutWords(outcome.reason, REASON_MAX_CHARS));
      return reason === '' ? `${name} did not work.` : `${name} did not work: ${reason}`;
    }
    case 'declined':
      return `You declined ${name}, so nothing was done.`;
    case 'expired':
      return `${name} was not confirmed in time, so nothing was done.`;
    case 'timeout':
      return `${name} did not answer in time. Please try again in a moment.`;
    case 'unavailable':
      return `${name} is not available right now.`;
    case 'unknown':
      return `It is not known whether ${name} was done: it was interrupted while it ran. Please check before you try again.`;
    case 'waiting':
      return `${name} has no result yet.`;
  }
}

/** What to say of the call of action `name` whose tool message has this `content`. `offered`: names of the components at hand. */
export function reportResult(name: string, content: string, offered: ReadonlySet<string>): ResultReport {
  const spokenAction = escapeMarkdown(capitalised(spokenName(name)));
  const outcome = readOutcome(content);
  if (outcome.kind !== 'ok') return { text: reportProblem(spokenAction, outcome), component: undefined };
  return reportValue(spokenAction, outcome.value, offered);
}
