/** A block: one component's body in a conversation, with its place, its id and its revision (BLOCK-1). */
import * as v from 'valibot';
import { ID_MAX_CHARS } from '../limits.ts';
import { text } from '../schema/text.ts';
import { CATALOG } from './catalog.ts';
import { type Body, FALLBACK_TEXT_MAX_CHARS } from './component.ts';

/** docs/catalog.md: `a11y_label? ≤120`. */
const A11Y_LABEL_MAX_CHARS = 120;

export interface Block {
  /** Place in its message, from 0. */
  readonly index: number;
  /** Unique in the conversation; stays the same over revisions. */
  readonly id: string;
  readonly block_type: string;
  /** From 1; each redrawing adds one. */
  readonly revision: number;
  readonly body: Body;
  readonly fallback_text?: string | undefined;
  readonly a11y_label?: string | undefined;
}

/** Validates a block as it is stored and sent, its body with the schema of its `block_type`. */
export const blockSchema: v.GenericSchema<unknown, Block> = v.pipe(
  v.strictObject({
    index: v.pipe(v.number('must be a number'), v.safeInteger('must be a whole number'), v.minValue(0, 'must not be negative')),
    id: text(ID_MAX_CHARS, 1),
    block_type: text(ID_MAX_CHARS, 1),
    revision: v.pipe(v.number('must be a number'), v.safeInteger('must be a whole number'), v.minValue(1, 'must be at least 1')),
    body: v.record(v.string(), v.unknown(), 'must be an object'),
    fallback_text: v.optional(text(FALLBACK_TEXT_MAX_CHARS)),
    a11y_label: v.optional(text(A11Y_LABEL_MAX_CHARS)),
  }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const block = dataset.value;
    const component = CATALOG.get(block.block_type);
    if (component === undefined) {
      addIssue({ message: 'must be a component of the catalog', path: [place(block, 'block_type')] });
      return NEVER;
    }
    const body = v.safeParse(component.body, block.body);
    if (body.success) return { ...block, body: body.output };
    for (const issue of body.issues) {
      addIssue({ message: issue.message, path: [place(block, 'body'), ...(issue.path ?? [])] });
    }
    return NEVER;
  }),
);

function place(input: object, key: string): v.UnknownPathItem {
  return { type: 'unknown', origin: 'value', input, key, value: undefined };
}
