/** What was filled in of a form, as it is sent, and what is wrong with it by field. Of every SDK: nothing here draws. */
import type { BodyOf } from '../../client/conversation/answer-blocks.ts';

type Sent = string | number | boolean | string[];

export type Values = Readonly<Record<string, string | boolean | string[]>>;
export type Problems = Readonly<Record<string, string>>;

const FIELD_PATH = /^values\.(.+)$/;

export function problemsOf(details: readonly { readonly path: string; readonly message: string }[]): Problems {
  return Object.fromEntries(
    details.flatMap(({ path, message }) => (FIELD_PATH.exec(path)?.[1] ? [[FIELD_PATH.exec(path)?.[1] ?? '', message]] : [])),
  );
}

/** Values by name, without what is empty. */
export function submittedOf(fields: BodyOf<'form'>['fields'], values: Values): Readonly<Record<string, Sent>> {
  const filledIn: [string, Sent][] = fields.flatMap(({ name, type }) => {
    const value = values[name] ?? (type === 'boolean' ? false : '');
    if (value === '' || (Array.isArray(value) && value.length === 0)) return [];
    return [[name, type === 'number' && typeof value === 'string' ? Number(value.trim().replace(',', '.')) : value]];
  });
  return Object.fromEntries(filledIn);
}
