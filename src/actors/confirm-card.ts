/** Draws the card on which a person confirms a write: from what the app declared, never from the model's words. */
import { CONFIRM_MARKER } from '../protocol/action-params.ts';
import { fallbackText } from '../protocol/catalog/catalog.ts';
import type { ConfirmCardBody } from '../protocol/catalog/confirm.ts';
import { CONFIRM_TEMPLATE_MAX_CHARS } from '../protocol/limits.ts';
import type { ManifestAction } from '../protocol/runtime/manifest.ts';
import type { InvocationState } from '../protocol/runtime/states.ts';
import { clip } from '../protocol/text.ts';
import { timestamp } from '../protocol/timestamp.ts';
import type { Connection } from '../storage/connection.ts';
import { type PickChange, readBlockById } from '../storage/conversations.ts';
import { type InvocationChange, readInvocationById } from '../storage/invocations.ts';

/** catalog.md, row confirm_card. */
const TITLE_MAX_CHARS = 80;
const LABEL_MAX_CHARS = 40;
const DISPLAY_MAX_CHARS = 200;

/** `cancel_order` → `Cancel order`. */
function words(name: string): string {
  const text = name.replaceAll('_', ' ');
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}

function display(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The best entry of a map from locale to text: the locale itself, its language, English, else the first. */
export function localised<T>(texts: Readonly<Record<string, T>>, locale: string | null): T | undefined {
  const wanted = locale?.toLowerCase().replace('_', '-') ?? '';
  const byTag = new Map(Object.entries(texts).map(([tag, value]) => [tag.toLowerCase().replace('_', '-'), value]));
  return byTag.get(wanted) ?? byTag.get(wanted.split('-')[0] as string) ?? byTag.get('en') ?? Object.values(texts)[0];
}

/** `Cancel order {order_id}?` with the values in place; a marker without a value becomes nothing. */
export function fillTemplate(template: string, params: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(CONFIRM_MARKER, (_, name: string) => display(Object.hasOwn(params, name) ? params[name] : ''));
}

/** Body of the `confirm_card` for one call (catalog.md); `locale` is the handshake's. */
export function confirmCardBody(
  action: ManifestAction,
  call: { readonly invocationId: string; readonly params: Readonly<Record<string, unknown>>; readonly expiresAtMs: number },
  locale: string | null,
): ConfirmCardBody {
  const { confirm_template: template } = action;
  const sentence = typeof template === 'string' ? template : template === undefined ? undefined : localised(template, locale);
  const labels = action.confirm_labels === undefined ? undefined : localised(action.confirm_labels, locale);
  const fields = Object.entries(call.params).map(([param, value]): ConfirmCardBody['fields'][number] => {
    const declared = action.params[param];
    return {
      param,
      label: clip(words(param), LABEL_MAX_CHARS),
      display: clip(display(value), DISPLAY_MAX_CHARS),
      value,
      editable: declared?.editable === true,
      type: declared?.type ?? 'string',
      ...(declared?.enum === undefined ? {} : { enum: [...declared.enum] }),
    };
  });
  return {
    invocation_id: call.invocationId,
    title: clip(words(action.name), TITLE_MAX_CHARS),
    summary: clip(fillTemplate(sentence ?? action.description, call.params), CONFIRM_TEMPLATE_MAX_CHARS),
    risk: action.risk === 'destructive' ? 'destructive' : 'write',
    fields,
    confirm_label: labels?.confirm ?? 'Confirm',
    decline_label: labels?.cancel ?? 'Cancel',
    ...(action.type_to_confirm === undefined ? {} : { type_to_confirm: action.type_to_confirm }),
    expires_at: timestamp(call.expiresAtMs),
    edit_state: 'idle',
    status: 'pending',
  };
}

const CARD_STATUS: Partial<Record<InvocationState, ConfirmCardBody['status']>> = {
  confirmed: 'confirmed',
  executing: 'confirmed',
  succeeded: 'confirmed',
  failed: 'confirmed',
  unknown: 'confirmed',
  declined: 'declined',
  expired: 'expired',
};

/** The card of a call that was settled, as it is shown from now on; null when it has none or shows that already. */
export function settledCard(db: Connection, change: InvocationChange): PickChange | null {
  const status = CARD_STATUS[change.to];
  const blockId = readInvocationById(db, change.id)?.blockId ?? null;
  const block = blockId === null ? undefined : readBlockById(db, blockId);
  if (status === undefined || block === undefined || block.body.status !== 'pending') return null;
  const settled = { ...block.body, status };
  return {
    id: block.id,
    before: JSON.stringify(block.body),
    after: JSON.stringify(settled),
    fallbackText: fallbackText('confirm_card', settled),
  };
}
