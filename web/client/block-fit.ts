/**
 * Checks received blocks against the catalog (BLOCK-1, BLOCK-2). Fields that a later service adds are allowed, and so is text over its
 * maximum length: the service counts lengths before it restores personal data.
 */
import * as v from 'valibot';
import type { Block } from '../../protocol/catalog/block.ts';
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import { defuseMarkdown } from '../../protocol/catalog/markdown.ts';
import { ID_MAX_CHARS } from '../../protocol/limits.ts';
import { PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { renderPath } from '../../protocol/schema/issues.ts';

const envelope = v.object({
  index: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(ID_MAX_CHARS)),
  block_type: v.string(),
  revision: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  body: v.record(v.string(), v.unknown()),
  fallback_text: v.optional(v.string()),
  a11y_label: v.optional(v.string()),
});

function isTolerated(issue: v.BaseIssue<unknown>): boolean {
  if (issue.type === 'strict_object') return issue.expected === 'never';
  return issue.type === 'check' && /^must be at most [\d,]+ characters$/.test(issue.message);
}

function said(prefix: string, issue: v.BaseIssue<unknown>): string {
  const path = renderPath((issue.path ?? []).map((step) => step.key));
  return `${[prefix, path].filter((part) => part !== '').join('.')} ${issue.message}`;
}

/** The first thing in a block that does not fit its component's schema; undefined when it is valid. */
export function blockProblem(block: Block): string | undefined {
  const outside = v.safeParse(envelope, block);
  if (!outside.success) return said('', outside.issues[0]);
  const component = CATALOG.get(block.block_type);
  if (component === undefined) return `${block.block_type} is no component of the catalog`;
  const inside = v.safeParse(component.body, block.body);
  const issue = inside.issues?.find((each) => !isTolerated(each));
  return issue === undefined ? undefined : said(`${block.block_type}.body`, issue);
}

/**
 * Whether the joined deltas are the text of the ready block. HTML and unsafe links are removed from the ready block only (BLOCK-12), and
 * a placeholder that stays hidden may make the two differ.
 */
export function isSameText(joined: string, ready: string): boolean {
  if (joined === ready || ready.includes(PLACEHOLDER_OPENS)) return true;
  return defuseMarkdown(joined) === defuseMarkdown(ready);
}
