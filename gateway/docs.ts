/** GET /docs/:name and /docs/specification/:name: the documentation that is installed with the program, for developers. */
import { readdirSync, readFileSync } from 'node:fs';
import { Refusal } from '../protocol/errors.ts';
import { defineRoute } from './route.ts';

const HEADERS = {
  'Content-Type': 'text/markdown; charset=utf-8',
  'Cache-Control': 'public, max-age=300',
  'X-Content-Type-Options': 'nosniff',
};

/** Where the document that SDK authors start with is served. */
export const RUNTIME_DOCS_PATH = '/docs/runtime.md';

/** Names of the documents in a folder; none when the installation has no such folder. */
function documentsIn(folder: URL): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.md'));
  } catch {
    return [];
  }
}

/** Serves the documents of one folder (RUN-31). Names are looked up among those found at the start, so that none from outside becomes a path. */
function documentRoute(path: string) {
  const folder = new URL(`../..${path}/`, import.meta.url);
  const names = documentsIn(folder);
  return defineRoute({
    method: 'GET',
    path: `${path}/:name`,
    caller: 'anyone',
    handle({ params: { name = '' } }) {
      if (!names.includes(name))
        throw new Refusal('not_found', `There is no document of this name in ${path}. There are: ${names.join(', ')}.`);
      return { kind: 'text', status: 200, body: readFileSync(new URL(name, folder), 'utf8'), headers: HEADERS };
    },
  });
}

export const documentRoutes = [documentRoute('/docs'), documentRoute('/docs/specification')];
