/** Draws the card on which a person confirms a write: from what the app declared, never from the model's words. */
import { withoutMarks } from '../../assistant/privacy/number-placeholder.ts';
import { CONFIRM_MARKER } from '../../protocol/action-params.ts';
import type { ConfirmCardBody } from '../../protocol/catalog/confirm.ts';
import { CONFIRM_LABEL_MAX_CHARS, CONFIRM_TEMPLATE_MAX_CHARS } from '../../protocol/limits.ts';
import { clipWhole } from '../../protocol/placeholder.ts';
import type { ManifestAction } from '../../protocol/runtime/manifest.ts';
import { clip, fits } from '../../protocol/schema/text.ts';
import { timestamp } from '../../protocol/timestamp.ts';

/** docs/catalog.md, row confirm_card. */
const TITLE_MAX_CHARS = 80;
const LABEL_MAX_CHARS = 40;
const DISPLAY_MAX_CHARS = 200;

function words(name: string): string {
  const text = name.replaceAll('_', ' ');
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}

function display(value: unknown): string {
  if (value === undefined || value === null) return '';
  return withoutMarks(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The best entry of a map from locale to text: the locale itself, what it is a kind of (`zh-Hant-TW`: `zh-Hant`, `zh`), English, else the first. */
export function localised<T>(texts: Readonly<Record<string, T>>, locale: string | null): T | undefined {
  const tagOf = (text: string) => text.toLowerCase().replaceAll('_', '-');
  const byTag = new Map(Object.entries(texts).map(([tag, value]) => [tagOf(tag), value]));
  const parts = tagOf(locale ?? '').split('-');
  for (let length = parts.length; length > 0; length--) {
    const found = byTag.get(parts.slice(0, length).join('-'));
    if (found !== undefined) return found;
  }
  return byTag.get('en') ?? Object.values(texts)[0];
}

/** `Cancel order {order_id}?` with the values in place; a marker without a value becomes nothing. */
export function fillTemplate(template: string, params: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(CONFIRM_MARKER, (_, name: string) => display(Object.hasOwn(params, name) ? params[name] : ''));
}

/** Words of a name by which [Cancel] would be taken for the action itself. */
const CANCELS = /(?:^|_)cancel(?:s|led|ling|lation)?(?:_|$)/;

/** The labels of the two buttons: the app's own, else [Confirm] and [Cancel]. An action that cancels something gets [Yes, …] and [Keep]. */
function labelsOf(action: ManifestAction, locale: string | null): { readonly confirm: string; readonly cancel: string } {
  const labels = action.confirm_labels === undefined ? undefined : localised(action.confirm_labels, locale);
  if (labels !== undefined) return labels;
  if (!CANCELS.test(action.name)) return { confirm: 'Confirm', cancel: 'Cancel' };
  const agreed = `Yes, ${action.name.replaceAll('_', ' ')}`;
  return { confirm: fits(agreed, CONFIRM_LABEL_MAX_CHARS) ? agreed : 'Yes, cancel', cancel: 'Keep' };
}

function fieldsOf({ params: declared }: ManifestAction, params: Readonly<Record<string, unknown>>): ConfirmCardBody['fields'] {
  return Object.entries(declared).flatMap(([param, { editable, type, enum: values }]): ConfirmCardBody['fields'] => {
    const isGiven = Object.hasOwn(params, param);
    if (!isGiven && !editable) return [];
    return [
      {
        param,
        label: clip(words(param), LABEL_MAX_CHARS),
        display: clipWhole(display(params[param]), DISPLAY_MAX_CHARS),
        ...(isGiven ? { value: params[param] } : {}),
        editable,
        type,
        ...(values === undefined ? {} : { enum: [...values] }),
      },
    ];
  });
}

/** Body of the `confirm_card` for one call (CONFIRM-2); `locale` is the handshake's. */
export function confirmCardBody(
  action: ManifestAction,
  call: { readonly invocationId: string; readonly params: Readonly<Record<string, unknown>>; readonly expiresAtMs: number },
  locale: string | null,
): ConfirmCardBody {
  const { confirm_template: template } = action;
  const sentence = typeof template === 'string' ? template : template === undefined ? undefined : localised(template, locale);
  const labels = labelsOf(action, locale);
  return {
    invocation_id: call.invocationId,
    title: clip(words(action.name), TITLE_MAX_CHARS),
    summary: clipWhole(fillTemplate(sentence ?? action.description, call.params), CONFIRM_TEMPLATE_MAX_CHARS),
    risk: action.risk === 'destructive' ? 'destructive' : 'write',
    fields: fieldsOf(action, call.params),
    confirm_label: labels.confirm,
    decline_label: labels.cancel,
    ...(action.type_to_confirm === undefined ? {} : { type_to_confirm: action.type_to_confirm }),
    expires_at: timestamp(call.expiresAtMs),
    edit_state: 'idle',
    status: 'pending',
  };
}
