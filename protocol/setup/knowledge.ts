/**
 * Knowledge items (KNOWLEDGE-2). Unknown fields refuse the body; each item's
 * types and values are judged on their own, because one failing item does not fail the others.
 */
import * as v from 'valibot';
import { ADDRESS_MAX_CHARS, KNOWLEDGE_ITEMS_MAX, KNOWLEDGE_TEXT_MAX_CHARS, KNOWLEDGE_TITLE_MAX_CHARS } from '../limits.ts';
import { filledText, text } from '../schema/text.ts';
import { WEB_ADDRESS } from './addresses.ts';
import { itemFault, type MalformedItem } from './item-faults.ts';
import { externalKey, fields, listOf, reason, string } from './shapes.ts';

/** Every field of the three forms; which of them go together is the item's own matter. */
const itemShape = fields({
  external_key: string,
  kind: v.optional(string),
  op: v.optional(string),
  title: v.optional(string),
  content: v.optional(string),
  uri: v.optional(string),
  reason: v.optional(string),
});
export type KnowledgeItemShape = v.InferOutput<typeof itemShape> | MalformedItem;

const bodyOf = <Item extends v.GenericSchema>(item: Item) => fields({ items: listOf(item, 1, KNOWLEDGE_ITEMS_MAX) });

export const knowledgeBody = bodyOf(itemShape);

const textItem = fields({
  external_key: externalKey,
  kind: v.literal('text'),
  title: filledText(KNOWLEDGE_TITLE_MAX_CHARS),
  content: filledText(KNOWLEDGE_TEXT_MAX_CHARS),
  reason,
});

const linkItem = fields({
  external_key: externalKey,
  kind: v.literal('url'),
  title: v.optional(text(KNOWLEDGE_TITLE_MAX_CHARS)),
  uri: v.pipe(text(ADDRESS_MAX_CHARS, 1), v.regex(WEB_ADDRESS, 'must be an http or https address, without a user or password')),
  reason,
});

const archiveItem = fields({ external_key: externalKey, op: v.literal('archive'), reason });

/** The body as it is published: each item is one of the three forms. One that is not is refused alone, by its result. */
export const publishedKnowledgeBody = bodyOf(v.union([textItem, linkItem, archiveItem]));

export type TextItem = v.InferOutput<typeof textItem>;
export type LinkItem = v.InferOutput<typeof linkItem>;
export type ArchiveItem = v.InferOutput<typeof archiveItem>;

export type JudgedItem =
  | { readonly form: 'text'; readonly item: TextItem }
  | { readonly form: 'link'; readonly item: LinkItem }
  | { readonly form: 'archive'; readonly item: ArchiveItem }
  | { readonly form: 'refused'; readonly error: string };

function judge<Form extends 'text' | 'link' | 'archive', Schema extends v.GenericSchema>(form: Form, schema: Schema, item: unknown) {
  const result = v.safeParse(schema, item);
  if (result.success) return { form, item: result.output as v.InferOutput<Schema> } as const;
  return { form: 'refused', error: itemFault(result.issues) } as const;
}

/** Which of the three forms the item has, checked; `error` names up to three fields. Never throws. */
export function judgeKnowledgeItem(item: KnowledgeItemShape): JudgedItem {
  if ('malformed' in item) return { form: 'refused', error: item.malformed };
  if (item.op !== undefined) {
    return item.op === 'archive'
      ? judge('archive', archiveItem, item)
      : { form: 'refused', error: 'op must be archive, or left out to add or update a source' };
  }
  if (item.kind === 'text') return judge('text', textItem, item);
  if (item.kind === 'url') return judge('link', linkItem, item);
  return { form: 'refused', error: item.kind === undefined ? 'kind is required: text or url' : 'kind must be text or url' };
}
