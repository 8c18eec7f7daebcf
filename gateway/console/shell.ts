/** GET /console: one page for all addresses (docs/specification/console-app.md); scripts and styles change name with their contents. */
import { readdirSync } from 'node:fs';
import { Refusal } from '../../protocol/errors.ts';
import { pageHeaders, StaticFile } from '../http/static-file.ts';
import { defineRoute, publicRoute, type Route } from '../route.ts';
import { followConsoleLink, sessionCookie } from './operator-session.ts';

/** Beside the compiled program. */
const FOLDER = new URL('../../web/console/', import.meta.url);

const PAGE_HEADERS = {
  ...pageHeaders("'self' data: blob:"),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

const ASSET_HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' };
const ASSET_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

function endingOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

interface App {
  readonly page: StaticFile;
  readonly assets: ReadonlyMap<string, StaticFile>;
}

let app: App | undefined;

function openApp(): App {
  if (app !== undefined) return app;
  try {
    const names = readdirSync(new URL('assets/', FOLDER)).filter((name) => Object.hasOwn(ASSET_TYPES, endingOf(name)));
    const assets = names.map((name) => {
      const headers = {
        ...ASSET_HEADERS,
        'Content-Type': ASSET_TYPES[endingOf(name)] ?? '',
        // The name of the licences does not change with their contents.
        ...(name.endsWith('.txt') && { 'Cache-Control': 'public, max-age=3600' }),
      };
      return [name, StaticFile.built(new URL(`assets/${name}`, FOLDER), headers)] as const;
    });
    app = { page: StaticFile.built(new URL('index.html', FOLDER), PAGE_HEADERS), assets: new Map(assets) };
    return app;
  } catch {
    throw new Refusal(
      'not_found',
      'This installation has no console app. Run npm run build; the interface below /console/api is there without it.',
    );
  }
}

/** Answers the link of the start banner, then away from the address with the code, which keeps it out of the history. */
const pageRoute = publicRoute('/console', async ({ query, header, isHead }, services) => {
  const code = query.get('once');
  // A link is followed by GET alone: programs that look at links ask for the head.
  if (code === null || isHead) return openApp().page.reply(header);
  const opened = await followConsoleLink(code, services);
  const to = {
    Location: opened === undefined ? '/console?link=over' : '/console',
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
  };
  const headers = opened === undefined ? to : { ...to, 'Set-Cookie': sessionCookie(opened, services) };
  return { kind: 'text', status: 303, body: 'Go to the page that Location names.\n', headers };
});

const assetRoute = publicRoute('/console/assets/:name', ({ params: { name = '' }, header }) => {
  const asset = openApp().assets.get(name);
  if (asset === undefined) throw new Refusal('not_found', 'There is no such file in this release. Load the page again.');
  return asset.reply(header);
});

/** An unknown call of the interface is no page. */
const unknownCallRoute = defineRoute({
  method: 'GET',
  path: '/console/api/*',
  caller: 'anyone',
  handle: () => {
    throw new Refusal('not_found', 'There is nothing at this path.');
  },
});

/** Which pages there are, the app knows: the address of any of them answers the same. */
const anyPageRoute = publicRoute('/console/*', ({ header }) => openApp().page.reply(header));

export const shellRoutes: readonly Route[] = [pageRoute, assetRoute, unknownCallRoute, anyPageRoute];
