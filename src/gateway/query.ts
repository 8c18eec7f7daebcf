/** Query parameters checked by a schema, as bodies are. */
import * as v from 'valibot';
import { Refusal } from '../protocol/errors.ts';
import { explain, summarise } from '../protocol/issues.ts';

/** Unknown parameters are ignored; of a repeated one the last counts. @throws Refusal 400 `invalid_request` naming the parameter. */
export function checkQuery<Schema extends v.GenericSchema>(schema: Schema, query: URLSearchParams): v.InferOutput<Schema> {
  const result = v.safeParse(schema, Object.fromEntries(query));
  if (result.success) return result.output;
  const details = explain(result.issues);
  throw new Refusal('invalid_request', summarise(details), { details });
}
