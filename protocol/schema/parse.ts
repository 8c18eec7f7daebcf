/** Checks what a caller sent against a schema, or refuses it in one form: a sentence about the first fault, details about twelve. */
import * as v from 'valibot';
import { type ErrorCode, Refusal } from '../errors.ts';
import { explain, summarise } from './issues.ts';

/** What is said of these issues, one at least, under `code`; twelve details at most (HTTP-2). */
export function refusalOf(issues: readonly v.BaseIssue<unknown>[], code: ErrorCode): Refusal {
  const details = explain(issues);
  return new Refusal(code, summarise(details), { details });
}

/** The value as the schema gives it. @throws Refusal `code` that names the field, with details. */
export function parseOrRefuse<const Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  code: ErrorCode,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw refusalOf(result.issues, code);
}
