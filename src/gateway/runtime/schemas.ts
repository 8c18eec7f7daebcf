/** GET /v1/schemas: the JSON Schemas of requests, events and answers, for whoever writes an SDK. Documentation: no key is needed. */
import { runtimeSchemas } from '../../protocol/runtime/schemas.ts';
import { etagOf, noneMatch } from '../etag.ts';
import { defineRoute, type Reply } from '../route.ts';

/** The answer changes with a release of the service only. */
const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'public, max-age=300',
  'X-Content-Type-Options': 'nosniff',
};

interface Rendered {
  readonly etag: string;
  readonly fresh: Reply;
  readonly unchanged: Reply;
}

let rendered: Rendered | undefined;

function render(): Rendered {
  const body = JSON.stringify(runtimeSchemas());
  const etag = etagOf(body);
  const headers = { ...HEADERS, ETag: etag };
  return { etag, fresh: { kind: 'text', status: 200, body, headers }, unchanged: { kind: 'empty', status: 304, headers } };
}

export const schemasRoute = defineRoute({
  method: 'GET',
  path: '/v1/schemas',
  caller: 'anyone',
  limits: [],
  body: null,
  handle({ header }) {
    rendered ??= render();
    return noneMatch(header('if-none-match'), rendered.etag) ? rendered.unchanged : rendered.fresh;
  },
});
