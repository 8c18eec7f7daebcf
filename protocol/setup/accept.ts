/**
 * Checks a draft (SETUP-26, SETUP-28): a body of the wrong shape (an unknown field, a missing
 * document, a wrong type) is 400 invalid_body; a well-formed one with a value the console would refuse is 422.
 */
import * as v from 'valibot';
import { refusalOf } from '../schema/parse.ts';
import { stated } from '../schema/stated.ts';

function isAboutShape(issue: v.BaseIssue<unknown>): boolean {
  if (issue.kind !== 'schema') return false;
  // A word outside its list and a token left out of a group are values to correct, not another kind of document.
  if (issue.type === 'picklist' || issue.type === 'literal') return typeof issue.input !== 'string';
  return issue.received !== 'undefined' || (issue.path ?? []).length <= 1;
}

/** The parsed body. @throws Refusal 400 invalid_body or 422 `valueCode`, naming the field, with details. */
export function acceptDraft<Schema extends v.GenericSchema>(
  schema: Schema,
  body: unknown,
  valueCode: 'invalid_appearance' | 'invalid_experience',
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  const shape = result.issues.filter(isAboutShape);
  throw shape.length > 0 ? refusalOf(shape, 'invalid_body') : refusalOf(result.issues, valueCode);
}

/** A list that says each of its values once. */
export function distinct<Item extends string | number | boolean = string>() {
  const repeatsNothing = v.check((items: Item[]) => new Set(items).size === items.length, 'must not repeat an item');
  return stated(repeatsNothing, { uniqueItems: true });
}
