/** GET /v1/schemas and /v1/schemas.d.ts. Documentation: no key is needed. */
import { readFileSync } from 'node:fs';
import { Refusal } from '../../protocol/errors.ts';
import { runtimeSchemas } from '../../protocol/runtime/schemas.ts';
import { StaticFile } from '../http/static-file.ts';
import { publicRoute } from '../route.ts';

/** Lies beside the program, as the documentation does. */
const TYPES = 'assistant-runtime.d.ts';

/** The answers change with a release of the service only. */
const HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'X-Content-Type-Options': 'nosniff',
};

/** Rendered before the first request, which it would hold up. */
const schemas = StaticFile.text(JSON.stringify(runtimeSchemas()), { ...HEADERS, 'Content-Type': 'application/json; charset=utf-8' });

let types: StaticFile | undefined;

function readTypes(): StaticFile {
  if (types !== undefined) return types;
  try {
    const text = readFileSync(new URL(`../../../types/${TYPES}`, import.meta.url), 'utf8');
    types = StaticFile.text(text, { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' });
    return types;
  } catch {
    throw new Refusal('not_found', `This installation has no types/${TYPES}. GET /v1/schemas says the same in JSON Schema.`);
  }
}

export const schemasRoute = publicRoute('/v1/schemas', ({ header }) => schemas.reply(header));
export const typesRoute = publicRoute('/v1/schemas.d.ts', ({ header }) => readTypes().reply(header));
