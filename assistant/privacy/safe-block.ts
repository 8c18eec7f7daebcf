/**
 * Blocks as they may leave: with no placeholder left inside an address (PRIVACY-11), so that wherever values come back in place of placeholders
 * later, in the stream, in a replay or in the history, none of them gets into what a client opens; and with nothing that a client would fetch
 * by itself but what it may (BLOCK-24).
 */
import type { Block } from '../../protocol/catalog/block.ts';
import { CATALOG, fallbackText } from '../../protocol/catalog/catalog.ts';
import { rewriteTexts, type TextUse } from '../../protocol/catalog/text-uses.ts';
import { LOOKALIKE, PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { isPlaceholderKind, placeholderOf } from './placeholder.ts';
import { hideInAddresses } from './placeholder-gate.ts';

function hideAll(text: string): string {
  return text.replace(LOOKALIKE, (placeholder) => {
    const kind = /^⟦([a-z]+)_/.exec(placeholder)?.[1] ?? '';
    return isPlaceholderKind(kind) ? placeholderOf(kind, undefined) : placeholder;
  });
}

const EMAIL_ALONE = /^⟦email_\d+⟧$/;
const PHONE_ALONE = /^⟦phone_\d+⟧$/;

const hide = (text: string, use: TextUse): string | undefined => {
  if (!text.includes(PLACEHOLDER_OPENS)) return text;
  switch (use) {
    case 'fetched':
      return undefined;
    case 'words':
      return hideInAddresses(text);
    case 'address':
      return hideAll(text);
    // The person's own, to be used with a tap. With anything beside it, it would be told to somebody else.
    case 'email':
      return EMAIL_ALONE.test(text) ? text : hideAll(text);
    case 'phone':
      return PHONE_ALONE.test(text) ? text : hideAll(text);
  }
};

/** What a client says that cannot draw the block, as `fallbackText` makes it of a valid body. */
export function safeFallback(blockType: string, body: Block['body']): string {
  return hideInAddresses(fallbackText(blockType, body));
}

/**
 * The block with every placeholder inside an address made one that is never restored, and without the pictures and the like whose address
 * `mayFetch` refuses; the same block when there is nothing to do. The values of a confirmation card are the call's own and stay: the person
 * must see what will be done.
 */
export function safeBlock(block: Block, mayFetch: (address: string) => boolean): Block {
  const { block_type: type } = block;
  const component = CATALOG.get(type);
  if (component === undefined || !(component.fetches || JSON.stringify(block.body).includes(PLACEHOLDER_OPENS))) return block;
  const safe = (text: string, use: TextUse) => (use === 'fetched' && !mayFetch(text) ? undefined : hide(text, use));
  const body = type === 'confirm_card' ? safeCard(block.body) : rewriteTexts(component.body, block.body, safe);
  return { ...block, body, ...(block.fallback_text === undefined ? {} : { fallback_text: safeFallback(type, body) }) };
}

/** A confirmation card whose sentences hold no placeholder inside an address. */
export function safeCard<T extends Block['body']>(body: T): T {
  const { title, summary } = body as { readonly title?: unknown; readonly summary?: unknown };
  return {
    ...body,
    ...(typeof title === 'string' ? { title: hideInAddresses(title) } : {}),
    ...(typeof summary === 'string' ? { summary: hideInAddresses(summary) } : {}),
  };
}
