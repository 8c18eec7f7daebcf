/**
 * An answer as it is stored (PRIVACY-5): personal data that the model wrote becomes placeholders, as in a person's words, before it is in
 * rows or anyone but the device that owns the conversation sees it.
 */
import type { ToolCall } from '../../assistant/models/model.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import type { ManifestAction } from '../../protocol/runtime/manifest.ts';
import type { Redaction } from '../people/redaction.ts';
import type { Outgoing } from './answer.ts';
import type { JournalEntry } from './log.ts';

type Own = Pick<Redaction, 'redactOwn'>;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The items with their blocks in placeholder form: at once, or once new values are stored. */
export function keptItems(items: readonly Outgoing[], redaction: Own): readonly Outgoing[] | Promise<readonly Outgoing[]> {
  const words = items.map((item) => ('block' in item ? { body: item.block.body, fallback: item.block.fallback_text } : null));
  const within = (redacted: typeof words) =>
    items.map((item, at): Outgoing => {
      const said = redacted[at];
      if (!('block' in item) || said === undefined || said === null || said === words[at]) return item;
      const { fallback_text: _, ...block } = item.block;
      return { block: { ...block, body: said.body, ...(said.fallback === undefined ? {} : { fallback_text: said.fallback }) } };
    });
  const redacted = redaction.redactOwn(words);
  return redacted instanceof Promise ? redacted.then(within) : within(redacted);
}

/** The place in the text, never between the halves of a character. */
function withinText(text: string, at: number): number {
  const place = Math.min(at, text.length);
  const isWithinPair = (text.charCodeAt(place - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(place) & 0xfc00) === 0xdc00;
  return isWithinPair ? place - 1 : place;
}

/**
 * The journal's entries, their deltas to the length of the blocks that they end with: what is kept of a text may be shorter or longer
 * than what was said of it. All of it is told again, in as many pieces.
 */
export function fittedEntries(entries: readonly JournalEntry[], blocks: readonly Block[]): JournalEntry[] {
  const textOf = (id: string) => blocks.find((block) => block.id === id)?.body.md;
  const last = new Map<string, JournalEntry>();
  for (const entry of entries) if ('deltas' in entry) last.set(entry.deltas, entry);
  return entries.map((entry) => {
    const text = 'deltas' in entry ? textOf(entry.deltas) : undefined;
    if (!('deltas' in entry) || typeof text !== 'string') return entry;
    if (last.get(entry.deltas) === entry && entry.ends.at(-1) === text.length) return entry;
    const ends = entry.ends.map((end) => withinText(text, end));
    if (last.get(entry.deltas) === entry) ends[ends.length - 1] = text.length;
    return { ...entry, from: withinText(text, entry.from), ends };
  });
}

/** The call with what the model filled in itself in placeholder form; values to choose from are the app's own. */
export function keptCall(call: ToolCall, { params }: ManifestAction, redaction: Own): ToolCall | Promise<ToolCall> {
  let given: unknown;
  try {
    given = JSON.parse(call.arguments);
  } catch {
    // It is refused for that, and not kept.
    return call;
  }
  if (!isObject(given)) return call;
  const isOwn = (name: string) => !Object.hasOwn(params, name) || params[name]?.enum === undefined;
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => isOwn(name)));
  const within = (kept: typeof own): ToolCall =>
    kept === own ? call : { ...call, arguments: JSON.stringify({ ...(given as object), ...kept }) };
  const kept = redaction.redactOwn(own);
  return kept instanceof Promise ? kept.then(within) : within(kept);
}
