/** The console app as files: what is served at which address, with which headers, and how large it is. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { loginRoute } from '../../../gateway/console/operator-session.ts';
import { shellRoutes } from '../../../gateway/console/shell.ts';
import { FILE } from '../../support/whole-file.ts';
import { serve } from '../test-server.ts';

/** Where the app lies, seen from the compiled test. */
const BUILT = new URL('../../../web/console/', import.meta.url);
const FIRST_LOAD_MAX_BYTES = 150_000;

/** The addresses of scripts and styles that the page names. */
function named(page: string): string[] {
  return Array.from(page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g), ([, address = '']) => address);
}

const { base } = await serve(FILE, [loginRoute, ...shellRoutes]);

test('PAGE-1: one page answers every address below /console that is no file and no call', async () => {
  const page = await (await fetch(`${base}/console`)).text();
  assert.match(page, /^<!doctype html>/);
  for (const path of ['/console/machines', '/console/machines/chat-turn', '/console/machines/x/y', '/console/nothing?steps=1']) {
    const answer = await fetch(base + path);
    assert.equal(answer.status, 200, path);
    assert.equal(await answer.text(), page, path);
  }
});

test('PAGE-1, HTTP-13: an unknown call or file is 404, a known call with another method 405, and a page takes GET and HEAD alone', async () => {
  const statusOf = async (method: string, path: string) => {
    const answer = await fetch(base + path, { method });
    const { error } = (await answer.json()) as { error: { code: string } };
    return `${answer.status} ${error.code}`;
  };
  assert.equal(await statusOf('GET', '/console/api/nothing'), '404 not_found');
  assert.equal(await statusOf('POST', '/console/api/nothing'), '404 not_found');
  assert.equal(await statusOf('GET', '/console/api/login'), '405 method_not_allowed');
  assert.equal(await statusOf('GET', '/console/assets/nothing.js'), '404 not_found');
  assert.equal(await statusOf('GET', '/console/assets/..%2findex.html'), '404 not_found');
  assert.equal(await statusOf('POST', '/console/machines'), '404 not_found');
});

test('PAGE-2: the page allows its own origin alone, and holds nothing inline', async () => {
  const answer = await fetch(`${base}/console/machines`);
  const policy = (answer.headers.get('content-security-policy') ?? '').split('; ');
  assert.deepEqual(policy, [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
  const page = await answer.text();
  assert.doesNotMatch(page, /<style| style=| on[a-z]+=|<script(?![^>]* src=)/);
  for (const [, address = ''] of page.matchAll(/(?:src|href)="([^"]+)"/g))
    assert.match(address, /^(?:\/console\/assets\/|data:image\/svg)/);
});

test('PAGE-3: scripts and styles may be kept by their name, the page is asked for each time and is 304 while it is the same', async () => {
  const answer = await fetch(`${base}/console`);
  assert.equal(answer.headers.get('cache-control'), 'no-cache');
  const etag = answer.headers.get('etag') ?? '';
  const again = await fetch(`${base}/console`, { headers: { 'If-None-Match': etag } });
  assert.deepEqual([again.status, await again.text()], [304, '']);
  const addresses = named(await answer.text());
  assert.ok(addresses.some((address) => address.endsWith('.js')) && addresses.some((address) => address.endsWith('.css')));
  for (const address of addresses) {
    assert.match(address, /-[A-Z0-9]{8}\.(?:js|css)$/);
    const { status, headers } = await fetch(base + address);
    assert.equal(status, 200);
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(headers.get('content-type'), address.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8');
  }
});

test('PAGE-3: a file is sent as br or gzip where that is taken, and says so', async () => {
  const plain = readFileSync(new URL('index.html', BUILT));
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync, '': (bytes: Buffer) => bytes };
  const tags = new Set<unknown>();
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, identity; q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', ''],
    ['br; q=0', ''],
  ] as const) {
    // Not fetch: it unpacks by itself.
    const { headers, body } = await request(`${base}/console`, { headers: { 'accept-encoding': accepted } });
    assert.equal(headers['content-encoding'] ?? '', encoding, accepted);
    assert.equal(headers.vary, 'Accept-Encoding');
    assert.deepEqual(unpack[encoding](Buffer.from(await body.arrayBuffer())), plain, accepted);
    tags.add(headers.etag);
  }
  assert.equal(tags.size, 3, 'each encoding has a tag of its own');
});

test(`PAGE-4: the first load has at most ${FIRST_LOAD_MAX_BYTES} bytes of script under gzip`, () => {
  const scripts = named(readFileSync(new URL('index.html', BUILT), 'utf8')).filter((address) => address.endsWith('.js'));
  assert.ok(scripts.length > 0);
  const sizes = scripts.map((address) => readFileSync(new URL(`${address.replace('/console/', '')}.gz`, BUILT)).length);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes <= FIRST_LOAD_MAX_BYTES, `${bytes}`);
});

test('HTTP-28, PAGE-1: HEAD is answered as GET on pages and scripts, and follows no link that signs in', async () => {
  const page = await (await fetch(`${base}/console`)).text();
  for (const path of ['/console', '/console/machines', ...named(page), '/console?once=a-code']) {
    const head = await fetch(base + path, { method: 'HEAD', redirect: 'manual' });
    assert.equal(`${head.status} ${await head.text()}`, '200 ', path);
  }
  assert.equal((await fetch(`${base}/console/api/nothing`, { method: 'HEAD' })).status, 404);
});
