/** The web SDK as files: what is served at which address, and how long it may be kept. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { shellRoutes } from '../../gateway/console/shell.ts';
import { demoRoutes } from '../../gateway/demo.ts';
import { keepRelease, sdkFiles, sdkRoutes } from '../../gateway/sdk.ts';
import { WEB_SDK_VERSION, webSdkFolder } from '../../protocol/runtime/web-sdk.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { FILE } from '../support/whole-file.ts';
import { serve } from './test-server.ts';

const FOLDER = webSdkFolder(WEB_SDK_VERSION);

async function textOf(address: string): Promise<string> {
  return (await fetch(address)).text();
}

/** The scripts that a page begins with. */
function named(page: string): string[] {
  return Array.from(page.matchAll(/src="\/\w+\/assets\/([^"]+\.js)"/g), ([, name = '']) => name);
}

const { base } = await serve(FILE, [...sdkRoutes, ...shellRoutes, ...demoRoutes], { demo: { key: undefined } as never });

test('WIDGET-1: the files of this version may be kept for a year by pages of every origin, and their hashes are right', async () => {
  assert.ok(sdkFiles().length >= 6);
  for (const { name, integrity, bytes } of sdkFiles()) {
    const answer = await fetch(base + FOLDER + name, { headers: { Origin: 'https://shop.example' } });
    const body = Buffer.from(await answer.arrayBuffer());
    assert.equal(`${answer.status} ${body.length}`, `200 ${bytes}`, name);
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(answer.headers.get('cross-origin-resource-policy'), 'cross-origin');
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    assert.equal(`sha384-${createHash('sha384').update(body).digest('base64')}`, integrity, name);
  }
});

test('WIDGET-1: latest is asked for again after five minutes, and answers 304 while it is the same', async () => {
  const first = await fetch(`${base}${webSdkFolder('latest')}assistant.js`);
  assert.equal(first.headers.get('cache-control'), 'public, max-age=300');
  const etag = first.headers.get('etag') ?? '';
  const again = await fetch(`${base}${webSdkFolder('latest')}assistant.js`, { headers: { 'If-None-Match': etag } });
  assert.equal(again.status, 304);
});

test('WIDGET-1: beside the files lie their names and hashes, for policies', async () => {
  const answer = await fetch(`${base}${FOLDER}files.json`);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  assert.deepEqual(await answer.json(), sdkFiles());
});

test('WIDGET-1: another version and an unknown file are told what there is', async () => {
  for (const path of [`${webSdkFolder('0.1.0')}assistant.js`, `${FOLDER}nothing.js`, `${FOLDER}..%2f..%2fmain.js`]) {
    const answer = await fetch(base + path);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    assert.equal(`${answer.status} ${error.code}`, '404 not_found', path);
    assert.match(error.message, /assistant\.js/);
  }
});

test('WIDGET-49: files of the last ten releases are answered: a part by its name, a script by its version', async (t) => {
  const folder = temporaryDir(t);
  const release = (n: number, name: string) => {
    const place = join(folder, `0.${n}.0_${String(n).padStart(12, '0')}`);
    mkdirSync(place, { recursive: true });
    for (const ending of ['', '.br', '.gz']) writeFileSync(join(place, `${name}${ending}`), `release ${n}`);
    utimesSync(place, n, n);
  };
  for (let n = 1; n <= 12; n++) {
    release(n, 'assistant.js');
    release(n, `later-views-ABCDEF${n + 10}.mjs`);
    release(n, 'shared-ABCDEFGH.mjs');
  }
  // A start that ended before it had copied all.
  mkdirSync(join(folder, '0.13.0_000000000013.4711'));
  utimesSync(join(folder, '0.13.0_000000000013.4711'), 13, 13);
  keepRelease(folder);
  assert.equal(readdirSync(folder).length, 10);
  const text = async (path: string) => {
    const answer = await fetch(base + path, { headers: { 'Accept-Encoding': 'identity' } });
    return answer.ok ? answer.text() : answer.status;
  };
  assert.equal(await text(`${webSdkFolder('latest')}later-views-ABCDEF14.mjs`), 'release 4');
  assert.equal(await text(`${webSdkFolder('0.4.0')}later-views-ABCDEF22.mjs`), 'release 12');
  assert.equal(await text(`${webSdkFolder('0.9.0')}shared-ABCDEFGH.mjs`), 'release 12');
  assert.equal(await text(`${webSdkFolder('0.12.0')}assistant.js`), 'release 12');
  assert.equal(await text(`${webSdkFolder('0.1.0')}assistant.js`), 404);
  assert.equal(await text(`${webSdkFolder('latest')}later-views-ABCDEF11.mjs`), 404);
  keepRelease(folder);
  assert.equal(readdirSync(folder).length, 10, 'the same release is there once');
});

test('WIDGET-6: what every page loads stays small', () => {
  const gzip = new Map(sdkFiles().map((file) => [file.name, file.gzip]));
  for (const name of ['assistant.js', 'assistant.mjs']) assert.ok((gzip.get(name) ?? Number.POSITIVE_INFINITY) <= 62_000, name);
  assert.ok((gzip.get('stub.js') ?? Number.POSITIVE_INFINITY) <= 6_000);
});

test('WIDGET-14: beside all scripts lie the licences of the packages that are in them, and each script says so', async () => {
  for (const [folder, scripts] of [
    [FOLDER, sdkFiles().map(({ name }) => name)],
    ['/console/assets/', named(await textOf(`${base}/console`))],
    ['/demo/assets/', named(await textOf(`${base}/demo`))],
  ] as const) {
    const answer = await fetch(`${base}${folder}NOTICES.txt`);
    assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8', folder);
    const notices = await answer.text();
    const packages = Array.from(notices.matchAll(/^(\S+) \d+\.\d+\.\d+\nLicence: (\S+)$/gm), ([, name, licence]) => `${name} ${licence}`);
    for (const each of ['preact MIT', 'valibot MIT', 'bwip-js MIT', 'highlight.js BSD-3-Clause']) assert.ok(packages.includes(each), each);
    assert.match(notices, /Copyright[\s\S]*Redistribution and use in source and binary forms/);
    assert.ok(scripts.length > 0);
    for (const name of scripts.filter((script) => !script.startsWith('stub'))) {
      assert.match(await textOf(`${base}${folder}${name}`), /\/\*! Licences: NOTICES\.txt \*\/\s*$/, name);
    }
  }
});
