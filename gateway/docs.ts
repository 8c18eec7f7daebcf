/** GET /docs/:name and its neighbours: the documentation that is installed with the program, for developers, and the pictures in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { Refusal } from '../protocol/errors.ts';
import { StaticFile } from './http/static-file.ts';
import { publicRoute } from './route.ts';

interface Shelf {
  readonly path: string;
  readonly ending: string;
  /** What a file is called when there is none of the name. */
  readonly what: string;
  readonly isText?: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

const HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'X-Content-Type-Options': 'nosniff',
};

const markdown = { ending: '.md', what: 'document', headers: { ...HEADERS, 'Content-Type': 'text/markdown; charset=utf-8' } };

/** A picture has its style in it, and neither scripts nor anything from elsewhere. */
const picture = {
  ending: '.svg',
  what: 'picture',
  headers: {
    ...HEADERS,
    'Content-Type': 'image/svg+xml',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  },
};

/** What a page of the console looks like. */
const screenshot = { ending: '.png', what: 'picture', isText: false, headers: { ...HEADERS, 'Content-Type': 'image/png' } };

/** Where the document that SDK authors start with is served. */
export const RUNTIME_DOCS_PATH = '/docs/runtime.md';

function namesIn(folder: URL, ending: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(ending));
  } catch {
    return [];
  }
}

/** Serves the files of one folder (RUN-31). Names are looked up among those found at the start, so that none from outside becomes a path. */
function shelfRoute({ path, ending, what, isText = true, headers }: Shelf) {
  const folder = new URL(`../..${path}/`, import.meta.url);
  const names = namesIn(folder, ending);
  const read = new Map<string, StaticFile>();
  const open = (name: string) => {
    const bytes = readFileSync(new URL(name, folder));
    return isText ? StaticFile.text(bytes.toString('utf8'), headers) : StaticFile.plain(bytes, headers);
  };
  return publicRoute(`${path}/:name`, ({ params: { name = '' }, header }) => {
    if (!names.includes(name))
      throw new Refusal('not_found', `There is no ${what} of this name in ${path}. There are: ${names.join(', ')}.`);
    const file = read.get(name) ?? open(name);
    read.set(name, file);
    return file.reply(header);
  });
}

export const documentRoutes = [
  shelfRoute({ path: '/docs', ...markdown }),
  shelfRoute({ path: '/docs/specification', ...markdown }),
  shelfRoute({ path: '/docs/images/machines', ...picture }),
  shelfRoute({ path: '/docs/images/console', ...screenshot }),
];
