/** GET /sdk/web/:version/:file (WIDGET-1). A version's files never change; `latest` is asked for again after some minutes. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Refusal } from '../protocol/errors.ts';
import { MOBILE_PAGE_PATH, WEB_SDK_VERSION, webSdkFolder } from '../protocol/runtime/web-sdk.ts';
import { pageHeaders, StaticFile } from './http/static-file.ts';
import { publicRoute } from './route.ts';

/** Beside the compiled program. */
const FOLDER = new URL('../web/sdk/served/', import.meta.url);

const LATEST = 'latest';

const HEADERS = {
  'Content-Type': 'text/javascript; charset=utf-8',
  // Any page may load it, and check it by its hash: it holds no secret and asks nothing by itself.
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Timing-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
};

const KEPT = { 'Cache-Control': 'public, max-age=31536000, immutable' };
const KEPT_SHORTLY = { 'Cache-Control': 'public, max-age=300' };

export interface SdkFile {
  readonly name: string;
  readonly integrity: string;
  readonly bytes: number;
  /** Bytes under gzip. */
  readonly gzip: number;
}

let made: readonly SdkFile[] | undefined;

export function sdkFiles(): readonly SdkFile[] {
  try {
    made ??= JSON.parse(readFileSync(new URL('files.json', FOLDER), 'utf8')) as SdkFile[];
    return made;
  } catch {
    return [];
  }
}

/** Beside the files of the SDK, and none of them: licences of the packages that are in them, and their names and hashes. */
const BESIDE = new Map([
  ['NOTICES.txt', 'text/plain; charset=utf-8'],
  ['files.json', 'application/json'],
]);

/** A page that stays open for longer than so many deployments is shown words in the place of what it has not loaded yet. */
const RELEASES_KEPT = 10;
/** Names in which the hash of the contents is; and files of a script's own name, which only their version has. */
const SERVED = /^[a-z-]+(?:-[A-Z0-9]{8}\.mjs|\.m?js)$/;

const RELEASE = /^\d[^_]*_[0-9a-f]{12}$/;
/** A start copies its files within seconds. */
const HALF_KEPT_MS = 3_600_000;

/** Files of other releases, by `<version>/<name>`, and of parts by name alone. */
let earlier: ReadonlyMap<string, URL> = new Map();

/**
 * Puts the files of this release beside those of earlier ones in `folder`, of which the newest stay (WIDGET-49), and serves them all from now
 * on. Several processes may do so at once. @throws Error of the system where the folder cannot be read or written
 */
export function keepRelease(folder: string): void {
  if (sdkFiles().length === 0) return;
  const digest = createHash('sha256').update(JSON.stringify(sdkFiles())).digest('hex').slice(0, 12);
  const own = join(folder, `${WEB_SDK_VERSION}_${digest}`);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(own)) {
    const half = `${own}.${process.pid}`;
    cpSync(FOLDER, half, { recursive: true });
    try {
      renameSync(half, own);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(own)) throw error;
    }
  }
  const now = new Date();
  utimesSync(own, now, now);
  const names = readdirSync(folder);
  // What is left of starts that ended in between.
  for (const name of names)
    if (!RELEASE.test(name) && now.getTime() - statSync(join(folder, name)).mtimeMs > HALF_KEPT_MS)
      rmSync(join(folder, name), { recursive: true, force: true });
  const releases = names
    .filter((name) => RELEASE.test(name))
    .map((name) => ({ name, atMs: statSync(join(folder, name)).mtimeMs }))
    .sort((one, other) => other.atMs - one.atMs);
  for (const { name } of releases.slice(RELEASES_KEPT)) rmSync(join(folder, name), { recursive: true, force: true });
  const found = releases.slice(0, RELEASES_KEPT).flatMap(({ name: release }) =>
    readdirSync(join(folder, release))
      .filter((name) => SERVED.test(name))
      .map((name): [string, URL] => {
        const [version] = release.split('_');
        return [name.includes('-') ? name : `${version}/${name}`, pathToFileURL(join(folder, release, name))];
      }),
  );
  // The newest of a name is the last that is set.
  earlier = new Map(found.reverse());
}

const read = new Map<string, StaticFile>();

/** Names are looked up among those that were made, so that none from outside becomes a path. */
function fileOf(version: string, name: string): StaticFile | undefined {
  const isOwn = version === LATEST || version === WEB_SDK_VERSION;
  const beside = isOwn && sdkFiles().length > 0 ? BESIDE.get(name) : undefined;
  const isHere = beside !== undefined || (isOwn && sdkFiles().some((file) => file.name === name));
  const place = isHere ? new URL(name, FOLDER) : (earlier.get(name) ?? earlier.get(`${version}/${name}`));
  if (place === undefined) return undefined;
  const headers = beside === undefined ? HEADERS : { ...HEADERS, 'Content-Type': beside };
  const file = read.get(place.href) ?? StaticFile.built(place, headers);
  read.set(place.href, file);
  return file;
}

/** It fills the screen below notches, and a keyboard makes it smaller where the web view can. */
const VIEWPORT = 'width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content';

let mobilePage: StaticFile | undefined;

/** GET /sdk/mobile, for web views of apps (MOBILE-1). Nobody frames it, and whoever opened it as a window has no hold of it (MOBILE-2). */
function openMobilePage(): StaticFile {
  const head = `<meta charset="utf-8"><meta name="viewport" content="${VIEWPORT}"><meta name="color-scheme" content="light dark"><title>Assistant</title>`;
  const script = `<script type="module" src="${webSdkFolder(WEB_SDK_VERSION)}mobile.mjs"></script>`;
  const headers = { ...pageHeaders("'self' https: blob: data:"), 'Cross-Origin-Opener-Policy': 'same-origin' };
  mobilePage ??= StaticFile.text(`<!doctype html><html lang="en"><head>${head}${script}</head><body></body></html>`, headers);
  return mobilePage;
}

export const sdkRoutes = [
  publicRoute(MOBILE_PAGE_PATH, ({ header }) => openMobilePage().reply(header)),
  publicRoute('/sdk/web/:version/:file', ({ params: { version = '', file: name = '' }, header }) => {
    const isLatest = version === LATEST;
    const file = fileOf(version, name);
    if (file === undefined && !isLatest && version !== WEB_SDK_VERSION) {
      const [own, latest] = [webSdkFolder(WEB_SDK_VERSION), webSdkFolder(LATEST)];
      const message = `This release serves version ${WEB_SDK_VERSION} of the web SDK: load ${own}assistant.js, or ${latest}assistant.js.`;
      throw new Refusal('not_found', message);
    }
    if (file === undefined) {
      const names = [...sdkFiles().map((each) => each.name), ...BESIDE.keys()].join(', ');
      throw new Refusal('not_found', `The web SDK has no file of this name. It has: ${names}.`);
    }
    return file.reply(header, isLatest ? KEPT_SHORTLY : KEPT);
  }),
];
