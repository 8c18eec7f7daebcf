/** GET /docs/:name: the documentation that lies beside the program, for whoever builds against it. */
import { readFileSync } from 'node:fs';
import { Refusal } from '../protocol/errors.ts';
import { defineRoute } from './route.ts';

/** The files of docs/ that are served: a name from outside never becomes a path. */
const DOCUMENTS: ReadonlySet<string> = new Set([
  'backups.md',
  'architecture.md',
  'catalog.md',
  'conformance.md',
  'console.md',
  'machines.md',
  'operations.md',
  'runtime.md',
  'scaling.md',
  'setup.md',
]);

const HEADERS = {
  'Content-Type': 'text/markdown; charset=utf-8',
  'Cache-Control': 'public, max-age=300',
  'X-Content-Type-Options': 'nosniff',
};

/** Where the document that SDK authors start with is served. */
export const RUNTIME_DOCS_PATH = '/docs/runtime.md';

export const documentRoute = defineRoute({
  method: 'GET',
  path: '/docs/:name',
  caller: 'anyone',
  limits: [],
  body: null,
  handle({ params }) {
    const name = params.name ?? '';
    if (!DOCUMENTS.has(name)) throw new Refusal('not_found', `There is no document of this name. There are: ${[...DOCUMENTS].join(', ')}.`);
    try {
      const text = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
      return { kind: 'text', status: 200, body: text, headers: HEADERS };
    } catch {
      throw new Refusal('not_found', `This installation has no docs/${name}.`);
    }
  },
});
