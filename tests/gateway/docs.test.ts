/** The documents that the service serves: all of docs/, by names that lead nowhere else, with links that lead on. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { documentRoutes } from '../../gateway/docs.ts';
import { projectRoot } from '../support/project-root.ts';
import { FILE } from '../support/whole-file.ts';
import { serve } from './test-server.ts';

const folder = join(projectRoot(), 'docs');
const NAMES = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));

/** Headings as GitHub makes anchors of them. */
function anchorsOf(page: string): string[] {
  return Array.from(page.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Destinations of links, without code. */
function linksOf(page: string): string[] {
  const prose = page.replaceAll(/```.*?```|`[^`\n]*`/gs, '');
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link);
}

const { base } = await serve(FILE, documentRoutes);

test('RUN-31: every document of docs/ and docs/specification/ is served as it is, without a key', async () => {
  assert.ok(NAMES.includes('threat-model.md') && NAMES.includes('specification/README.md'));
  for (const name of NAMES) {
    const answer = await fetch(`${base}/docs/${name}`);
    assert.equal(answer.status, 200, name);
    assert.equal(answer.headers.get('Content-Type'), 'text/markdown; charset=utf-8');
    assert.equal(await answer.text(), readFileSync(join(folder, name), 'utf8'), name);
  }
});

test('RUN-31: every relative link of a served document leads to one that is served, and to a heading that it has', async () => {
  const broken: string[] = [];
  for (const name of NAMES) {
    for (const link of linksOf(readFileSync(join(folder, name), 'utf8'))) {
      const target = new URL(link, `${base}/docs/${name}`);
      if (target.origin !== base) continue;
      const answer = await fetch(target);
      const page = await answer.text();
      const anchor = decodeURIComponent(target.hash.slice(1));
      if (answer.status !== 200 || (anchor !== '' && !anchorsOf(page).includes(anchor))) broken.push(`${name}: ${link}`);
    }
  }
  assert.deepEqual(broken, []);
});

test('RUN-31: any other name is 404 and lists the names that there are', async () => {
  for (const name of [
    'other.md',
    '..%2fREADME.md',
    '..%2f..%2fpackage.json',
    'specification%2fchat.md',
    'specification/..%2fruntime.md',
    '%00',
    '%E0',
  ]) {
    const answer = await fetch(`${base}/docs/${name}`);
    assert.equal(answer.status, 404, name);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    assert.equal(error.code, 'not_found');
    assert.match(error.message, /There are: .*\.md/);
  }
});

test('RUN-31: pictures of documents are served as images that may load and run nothing', async () => {
  const names = readdirSync(join(folder, 'images', 'machines'));
  assert.ok(names.includes('chat-turn.svg'));
  for (const name of names) {
    const answer = await fetch(`${base}/docs/images/machines/${name}`);
    assert.deepEqual([answer.status, answer.headers.get('Content-Type')], [200, 'image/svg+xml'], name);
    assert.equal(answer.headers.get('Content-Security-Policy'), "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    assert.equal(await answer.text(), readFileSync(join(folder, 'images', 'machines', name), 'utf8'), name);
  }
  for (const name of ['other.svg', '..%2fmachines.md', '..%2f..%2fchat.md']) {
    assert.equal((await fetch(`${base}/docs/images/machines/${name}`)).status, 404, name);
  }
});

test('RUN-31: screenshots of the documents are served as they are', async () => {
  const names = readdirSync(join(folder, 'images', 'console'));
  assert.ok(names.includes('trace-light.png'));
  for (const name of names) {
    const answer = await fetch(`${base}/docs/images/console/${name}`);
    assert.deepEqual([answer.status, answer.headers.get('Content-Type')], [200, 'image/png'], name);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), readFileSync(join(folder, 'images', 'console', name)), name);
  }
  assert.equal((await fetch(`${base}/docs/images/console/other.png`)).status, 404);
});
