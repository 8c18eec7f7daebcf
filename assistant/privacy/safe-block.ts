/** Blocks as they may leave: no placeholder in an address (PRIVACY-11), nothing fetched by itself but what may be (BLOCK-24). */
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
    case 'key':
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

/** The same block when there is nothing to do. A confirmation card's values stay the call's own: the person must see what will be done. */
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
