/** Query parameters checked by a schema, as bodies are. */
import type * as v from 'valibot';
import { parseOrRefuse } from '../../protocol/schema/parse.ts';

/** Ignores unknown parameters and takes the last of repeated ones. @throws Refusal 400 `invalid_request` naming the parameter. */
export function checkQuery<Schema extends v.GenericSchema>(schema: Schema, query: URLSearchParams): v.InferOutput<Schema> {
  return parseOrRefuse(schema, Object.fromEntries(query), 'invalid_request');
}
