/** The demo's pages as files: what is served at which address, and that all of it can be off. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoRoutes } from '../../gateway/demo.ts';
import { serve } from './test-server.ts';

const DEMO = { key: 'rd_pk_live_0123456789' };

/** The addresses of scripts that the page names. */
function named(page: string): string[] {
  return Array.from(page.matchAll(/(?:src|href)="(\/demo\/assets\/[^"]+)"/g), ([, address = '']) => address);
}

test('DEMO-1: without the demo there is nothing below /demo', async (t) => {
  const { base } = await serve(t, demoRoutes);
  for (const path of ['/demo', '/demo/app.json', '/demo/components', '/demo/assets/x.js', '/demo/pictures/large.svg']) {
    const answer = await fetch(base + path);
    const { error } = (await answer.json()) as { error: { code: string } };
    assert.equal(`${answer.status} ${error.code}`, '404 not_found', path);
  }
});

test('DEMO-2: the pages allow their own origin alone, hold nothing inline, and name scripts that may be kept', async (t) => {
  const { base } = await serve(t, demoRoutes, { demo: DEMO });
  for (const path of ['/demo', '/demo/components']) await checkPage(base, path);
});

async function checkPage(base: string, path: string): Promise<void> {
  const answer = await fetch(base + path);
  assert.equal(answer.status, 200);
  const policy = answer.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'; script-src 'self'/);
  assert.match(policy, /require-trusted-types-for 'script'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const page = await answer.text();
  assert.doesNotMatch(page, /<style|\sstyle=|\son\w+=|<script(?![^>]* src=)/);
  assert.ok(named(page).length > 0);
  for (const address of named(page)) {
    const script = await fetch(base + address);
    assert.equal(`${script.status} ${script.headers.get('cache-control')}`, '200 public, max-age=31536000, immutable', address);
  }
}

test('DEMO-2: names are looked up, and none becomes a path', async (t) => {
  const { base } = await serve(t, demoRoutes, { demo: DEMO });
  assert.equal((await fetch(`${base}/demo/pictures/large.svg`)).headers.get('content-type'), 'image/svg+xml');
  for (const path of ['/demo/pictures/..%2fcomponents.html', '/demo/assets/..%2fcomponents.html', '/demo/pictures/large.svg.gz']) {
    assert.equal((await fetch(base + path)).status, 404, path);
  }
});

test('DEMO-5: the shop is told the key of the demo app, and none once that is gone', async (t) => {
  const there = await serve(t, demoRoutes, { demo: DEMO });
  assert.deepEqual(await (await fetch(`${there.base}/demo/app.json`)).json(), DEMO);
  const gone = await serve(t, demoRoutes, { demo: { key: undefined } });
  assert.deepEqual(await (await fetch(`${gone.base}/demo/app.json`)).json(), {});
});

test('DEMO-6: the first address leads to the demo, and without it to the console', async (t) => {
  const on = await serve(t, demoRoutes, { demo: DEMO });
  const off = await serve(t, demoRoutes);
  const goesTo = async (base: string) => {
    const { status, headers } = await fetch(base, { redirect: 'manual' });
    return `${status} ${headers.get('location')}`;
  };
  assert.deepEqual([await goesTo(on.base), await goesTo(off.base)], ['302 /demo', '302 /console']);
});
