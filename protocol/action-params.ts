/** What the parameters of every action have in common, be it registered by a build or declared as an HTTP action. */
import * as v from 'valibot';

export const PARAM_TYPES = ['string', 'number', 'boolean', 'array'] as const;
export const ITEM_TYPES = ['string', 'number', 'boolean'] as const;
export type ParamType = (typeof PARAM_TYPES)[number];
export type ParamItemType = (typeof ITEM_TYPES)[number];
export type ParamValue = string | number | boolean;

/** A parameter's name as part of a pattern: the app's own names, camelCase as often as snake_case. */
export const PARAM_NAME = '[A-Za-z_][A-Za-z0-9_]{0,63}';

export const paramName = v.pipe(
  v.string('must be a string'),
  v.regex(new RegExp(`^${PARAM_NAME}$`), 'must be a name of letters, digits and underscores, at most 64 characters'),
);

/** What the parameter's values are: of a list, its items. */
export function valueTypeOf(param: { readonly type: ParamType; readonly items?: ParamItemType | undefined }): ParamItemType {
  return param.type === 'array' ? (param.items ?? 'string') : param.type;
}

/** `{name}` in a confirm_template, its name as the first group. */
export const CONFIRM_MARKER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The names that a confirm_template marks with `{name}`. */
export function confirmMarkers(template: string): string[] {
  return Array.from(template.matchAll(CONFIRM_MARKER), ([, name = '']) => name);
}

export interface ParamRule {
  readonly type: ParamType;
  readonly items?: ParamItemType | undefined;
  readonly enum?: readonly ParamValue[] | undefined;
}

function typeProblem(type: ParamType, value: unknown): string | null {
  if (type === 'array') return Array.isArray(value) ? null : 'must be a list';
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value) ? null : 'must be a number';
  if (type === 'boolean') return typeof value === 'boolean' ? null : 'must be true or false';
  return typeof value === 'string' ? null : 'must be a string';
}

/** What is wrong with a value, in the words that follow the parameter's name; null when nothing is. */
export function valueProblem(param: ParamRule, value: unknown): string | null {
  const wrongType = typeProblem(param.type, value);
  if (wrongType !== null) return wrongType;
  const values = Array.isArray(value) ? value : [value];
  if (param.type === 'array') {
    const items = param.items ?? 'string';
    if (values.some((item) => typeProblem(items, item) !== null)) return `must be a list of ${items} values`;
  }
  const allowed = param.enum;
  if (allowed !== undefined && values.some((item) => !allowed.includes(item as never))) return `must be one of ${allowed.join(', ')}`;
  return null;
}
