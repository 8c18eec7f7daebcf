/** Turns what a schema found wrong into sentences that name the field: one renderer for every interface. */
import type * as v from 'valibot';
import { ERROR_DETAILS_MAX } from '../limits.ts';
import { codePoints } from './text.ts';

export interface Detail {
  /** Where in the document: `client.components[3]`, or '' for the document itself. */
  path: string;
  message: string;
}

/** `['client', 'components', 3]` → `client.components[3]`. */
export function renderPath(keys: readonly unknown[]): string {
  let path = '';
  for (const key of keys) {
    if (typeof key === 'number') path += `[${key}]`;
    else path += path === '' ? String(key) : `.${String(key)}`;
  }
  return path;
}

function sentence(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'strict_object' && issue.expected === 'never') return 'is not a field of this request';
  if (issue.received === 'undefined') return 'is required';
  if (issue.type === 'object' || issue.type === 'strict_object') return 'must be an object';
  if (issue.type === 'array') return 'must be an array';
  if (issue.type === 'boolean') return 'must be true or false';
  if (issue.type === 'picklist' || issue.type === 'literal' || issue.type === 'variant') {
    return issue.expected === null ? issue.message : `must be one of ${issue.expected.replaceAll(/[()]/g, '').replaceAll(' | ', ', ')}`;
  }
  return issue.message;
}

/** The first twelve things wrong, each with the path of its field (HTTP-2). */
export function explain(issues: readonly v.BaseIssue<unknown>[]): Detail[] {
  return issues.slice(0, ERROR_DETAILS_MAX).map((issue) => ({
    path: renderPath((issue.path ?? []).map((step) => step.key)),
    message: sentence(issue),
  }));
}

/** The details with what was counted where something is too long: a model cannot count. */
export function measured(details: readonly Detail[], document: unknown): Detail[] {
  return details.map(({ path, message }) => {
    const unit = /^must (?:be|hold) at most \d+ (characters|items)$/.exec(message)?.[1];
    if (unit === undefined) return { path, message };
    const value = path
      .split(/[.[\]]+/)
      .reduce<unknown>((node, key) => (key === '' ? node : (node as Record<string, unknown>)?.[key]), document);
    if (typeof value !== 'string' && !Array.isArray(value)) return { path, message };
    return { path, message: `${message} (was ${typeof value === 'string' ? codePoints(value) : value.length})` };
  });
}

/** One sentence for the `message` of an error body: the first detail, with the field's name in front. */
export function summarise(details: readonly Detail[]): string {
  const first = details[0];
  if (first === undefined) return 'The body is malformed.';
  const subject = first.path === '' ? 'the body' : first.path;
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : '';
  return `${subject} ${first.message}${more}`;
}
