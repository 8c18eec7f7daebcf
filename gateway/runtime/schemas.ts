/**
 * GET /v1/schemas and /v1/schemas.d.ts: the JSON Schemas of requests, events and answers, and the TypeScript types made of them, for whoever
 * writes an SDK. Documentation: no key is needed.
 */
import { readFileSync } from 'node:fs';
import { Refusal } from '../../protocol/errors.ts';
import { runtimeSchemas } from '../../protocol/runtime/schemas.ts';
import { etagOf, noneMatch } from '../http/etag.ts';
import { defineRoute, type Reply } from '../route.ts';

/** Lies beside the program, as the documentation does. */
const TYPES = 'assistant-runtime.d.ts';

/** The answers change with a release of the service only. */
const HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'X-Content-Type-Options': 'nosniff',
};

interface Rendered {
  readonly etag: string;
  readonly fresh: Reply;
  readonly unchanged: Reply;
}

/** Made when it is first asked for. */
function once(contentType: string, make: () => string): () => Rendered {
  let rendered: Rendered | undefined;
  return () => {
    if (rendered === undefined) {
      const body = make();
      const etag = etagOf(body);
      const headers = { ...HEADERS, 'Content-Type': contentType, ETag: etag };
      rendered = { etag, fresh: { kind: 'text', status: 200, body, headers }, unchanged: { kind: 'empty', status: 304, headers } };
    }
    return rendered;
  };
}

function readTypes(): string {
  try {
    return readFileSync(new URL(`../../../types/${TYPES}`, import.meta.url), 'utf8');
  } catch {
    throw new Refusal('not_found', `This installation has no types/${TYPES}. GET /v1/schemas says the same in JSON Schema.`);
  }
}

function documentRoute(path: string, rendered: () => Rendered) {
  return defineRoute({
    method: 'GET',
    path,
    caller: 'anyone',
    handle({ header }) {
      const { etag, fresh, unchanged } = rendered();
      return noneMatch(header('if-none-match'), etag) ? unchanged : fresh;
    },
  });
}

export const schemasRoute = documentRoute(
  '/v1/schemas',
  once('application/json; charset=utf-8', () => JSON.stringify(runtimeSchemas())),
);
export const typesRoute = documentRoute('/v1/schemas.d.ts', once('text/plain; charset=utf-8', readTypes));
