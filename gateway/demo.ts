/** The demo (docs/specification/demo.md), as web/demo/bundle.mjs made it. With DEMO=off it is not there. */
import { readdirSync } from 'node:fs';
import { Refusal } from '../protocol/errors.ts';
import { pageHeaders, StaticFile } from './http/static-file.ts';
import { publicRoute, type Route } from './route.ts';
import type { Services } from './services.ts';

/** Beside the compiled program. */
const FOLDER = new URL('../web/demo/', import.meta.url);

const NO_SNIFF = { 'X-Content-Type-Options': 'nosniff' };
const SCRIPT_HEADERS = {
  ...NO_SNIFF,
  'Content-Type': 'text/javascript; charset=utf-8',
  'Cache-Control': 'public, max-age=31536000, immutable',
};
/** Licences of the packages that are in the scripts: its name does not change with its contents. */
const NOTICES_HEADERS = { ...NO_SNIFF, 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'public, max-age=3600' };
/** A picture has its colours in it, and neither scripts nor anything from elsewhere. */
const PICTURE_HEADERS = {
  ...NO_SNIFF,
  'Content-Type': 'image/svg+xml',
  'Cache-Control': 'public, max-age=3600',
  'Content-Security-Policy': "default-src 'none'; sandbox",
};

function filesIn(folder: string, ending: string, headers: Readonly<Record<string, string>>): ReadonlyMap<string, StaticFile> {
  const names = readdirSync(new URL(folder, FOLDER)).filter((name) => name.endsWith(ending));
  return new Map(names.map((name) => [name, StaticFile.built(new URL(`${folder}${name}`, FOLDER), headers)]));
}

interface Demo {
  readonly pages: ReadonlyMap<string, StaticFile>;
  readonly assets: ReadonlyMap<string, StaticFile>;
  readonly pictures: ReadonlyMap<string, StaticFile>;
}

/** Read at the first request, so that a program without it starts as well. */
let read: Demo | undefined;

function openDemo({ demo }: Services): Demo {
  if (demo === undefined) throw new Refusal('not_found', 'The demo is off in this installation.');
  if (read !== undefined) return read;
  try {
    read = {
      pages: filesIn('./', '.html', pageHeaders()),
      assets: new Map([...filesIn('assets/', '.js', SCRIPT_HEADERS), ...filesIn('assets/', '.txt', NOTICES_HEADERS)]),
      pictures: filesIn('pictures/', '.svg', PICTURE_HEADERS),
    };
    return read;
  } catch {
    throw new Refusal('not_found', 'This installation has no demo pages. Run npm run build.');
  }
}

function found(files: ReadonlyMap<string, StaticFile>, name = ''): StaticFile {
  const file = files.get(name);
  if (file === undefined) throw new Refusal('not_found', 'There is no such file in this release. Load the page again.');
  return file;
}

export const demoRoutes: readonly Route[] = [
  // Whoever opens the service in a browser wants to see it; without the demo the console is what there is to see.
  publicRoute('/', (_input, { demo }) => {
    const to = {
      Location: demo === undefined ? '/console' : '/demo',
      'Content-Type': 'text/plain; charset=utf-8',
      'Cache-Control': 'no-store',
    };
    return { kind: 'text', status: 302, body: 'Go to the page that Location names.\n', headers: to };
  }),
  publicRoute('/demo', ({ header }, services) => found(openDemo(services).pages, 'shop.html').reply(header)),
  // Which app the shop's assistant is: its key is public, as every publishable key is.
  publicRoute('/demo/app.json', (_input, services) => {
    openDemo(services);
    const key = services.demo?.key;
    return { kind: 'json', status: 200, body: key === undefined ? {} : { key } };
  }),
  publicRoute('/demo/components', ({ header }, services) => found(openDemo(services).pages, 'components.html').reply(header)),
  publicRoute('/demo/assets/:name', ({ params, header }, services) => found(openDemo(services).assets, params.name).reply(header)),
  publicRoute('/demo/pictures/:name', ({ params, header }, services) => found(openDemo(services).pictures, params.name).reply(header)),
];
