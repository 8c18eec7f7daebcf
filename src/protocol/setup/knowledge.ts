/**
 * Knowledge items (service.md "Knowledge item", POST /knowledge). The body's shape is judged as a whole; each item's
 * values on their own, because one failing item does not fail the others.
 */
import * as v from 'valibot';
import { explain } from '../issues.ts';
import {
  KNOWLEDGE_ITEMS_MAX,
  KNOWLEDGE_KEY_MAX_CHARS,
  KNOWLEDGE_TEXT_MAX_CHARS,
  KNOWLEDGE_TITLE_MAX_CHARS,
  REASON_MAX_CHARS,
} from '../limits.ts';
import { text } from '../text.ts';

const string = v.string('must be a string');

/** Every field of the three forms; which of them go together is the item's own matter. */
const itemShape = v.strictObject({
  external_key: string,
  kind: v.optional(string),
  op: v.optional(string),
  title: v.optional(string),
  content: v.optional(string),
  uri: v.optional(string),
  reason: v.optional(string),
});
export type KnowledgeItemShape = v.InferOutput<typeof itemShape>;

/** Body of POST /knowledge. */
export const knowledgeBody = v.strictObject({
  items: v.pipe(
    v.array(itemShape),
    v.minLength(1, 'must hold at least one item'),
    v.maxLength(KNOWLEDGE_ITEMS_MAX, `must hold at most ${KNOWLEDGE_ITEMS_MAX} items`),
  ),
});

const externalKey = v.pipe(
  text(KNOWLEDGE_KEY_MAX_CHARS, 1),
  v.check((value) => value.trim() !== '', 'must not be blank'),
);
const reason = v.optional(text(REASON_MAX_CHARS));

const textItem = v.strictObject({
  external_key: externalKey,
  kind: v.literal('text'),
  title: v.pipe(
    text(KNOWLEDGE_TITLE_MAX_CHARS, 1),
    v.check((value) => value.trim() !== '', 'must not be blank'),
  ),
  content: v.pipe(
    text(KNOWLEDGE_TEXT_MAX_CHARS, 1),
    v.check((value) => value.trim() !== '', 'must not be blank'),
  ),
  reason,
});

const linkItem = v.strictObject({
  external_key: externalKey,
  kind: v.literal('url'),
  title: v.optional(text(KNOWLEDGE_TITLE_MAX_CHARS)),
  uri: v.pipe(
    text(2_048, 1),
    v.check((value) => /^https?:\/\//i.test(value) && URL.canParse(value), 'must be an http or https address'),
  ),
  reason,
});

const archiveItem = v.strictObject({ external_key: externalKey, op: v.literal('archive'), reason });

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
  const [first] = explain(result.issues);
  return { form: 'refused', error: first === undefined ? 'The item is malformed.' : `${first.path} ${first.message}` } as const;
}

/** Which of the three forms the item has, checked; `error` names the field. Never throws. */
export function judgeKnowledgeItem(item: KnowledgeItemShape): JudgedItem {
  if (item.op !== undefined) {
    return item.op === 'archive'
      ? judge('archive', archiveItem, item)
      : { form: 'refused', error: 'op must be archive, or left out to add or update a source' };
  }
  if (item.kind === 'text') return judge('text', textItem, item);
  if (item.kind === 'url') return judge('link', linkItem, item);
  return { form: 'refused', error: item.kind === undefined ? 'kind is required: text or url' : 'kind must be text or url' };
}
