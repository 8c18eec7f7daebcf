import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HANDSHAKE } from '../../support/client.ts';
import { startService } from '../../support/service.ts';
import { FILE } from '../../support/whole-file.ts';
import { consoleApp } from './console-app.ts';

interface Report {
  readonly planned: number;
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly archived: number;
  readonly unknown: string[];
  readonly note: string;
}
interface Listing {
  readonly facts: { declared: number; planned: number; missing: number };
  readonly screens: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
}

function screen(name: string, more: Readonly<Record<string, unknown>> = {}) {
  return { name, title: 'A screen', description: 'Shows something.', ...more };
}

const service = await startService(FILE, { env: { DEMO: 'off' } });

async function shop() {
  const { console, client } = await consoleApp(service);
  const post = async (body: unknown) => {
    const answer = await console('POST', '/screens', body);
    return { status: answer.status, report: answer.json as Report, text: answer.text };
  };
  const list = async (query = '') => {
    const answer = await console('GET', `/screens${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Listing;
  };
  const build = async (version: string, names: readonly string[]) => {
    const routes = names.map((name) => ({ name, title: 'A route' }));
    const manifest_hash = await client.register({ version, actions: [], routes });
    // The app is live: a manifest counts from its first turn on.
    await client.say('Hello', { client: { ...HANDSHAKE, manifest_hash } });
  };
  return { console, post, list, build };
}

function counts({ planned, added, updated, unchanged, archived, unknown }: Report): unknown[] {
  return [planned, added, updated, unchanged, archived, unknown];
}

test('SCREEN-1: POST /screens: adds, updates by name, leaves unchanged what is the same, archives, and names what it does not know', async () => {
  const { post, list } = await shop();
  const cart = screen('cart', {
    params: { item: { type: 'string', required: true } },
    file: 'src/Cart.tsx',
    deep_link: 'shop://cart/{item}',
  });
  const first = await post({ screens: [cart, screen('home')], archive: [] });
  assert.equal(first.status, 200, first.text);
  assert.deepEqual(counts(first.report), [2, 2, 0, 0, 0, []]);
  assert.equal(typeof first.report.note, 'string');
  const before = await list();
  assert.deepEqual(counts((await post({ screens: [cart, screen('home')], archive: [] })).report), [2, 0, 0, 2, 0, []]);
  assert.deepEqual(await list(), before);
  const changed = await post({
    screens: [{ ...cart, title: 'Your cart' }, screen('help')],
    archive: [{ name: 'home', reason: 'Merged into cart.' }, { name: 'attic' }],
  });
  assert.deepEqual(counts(changed.report), [2, 1, 1, 0, 1, ['attic']]);
  const { screens, facts } = await list();
  assert.deepEqual(facts, { declared: 2, planned: 2, missing: 2 });
  assert.deepEqual(
    screens.map(({ name, title, archived_at, reason }) => [name, title, archived_at === null, reason]),
    [
      ['cart', 'Your cart', true, null],
      ['help', 'A screen', true, null],
      ['home', 'A screen', false, 'Merged into cart.'],
    ],
  );
  const { params, file, deep_link } = cart as unknown as Record<string, unknown>;
  assert.deepEqual([screens[0]?.params, screens[0]?.file, screens[0]?.deep_link, screens[0]?.origin], [params, file, deep_link, 'console']);
});

test('SCREEN-2: a screen is planned until a build’s manifest names it', async () => {
  const { post, list, build } = await shop();
  await post({ screens: [screen('cart'), screen('home')], archive: [] });
  await build('1', ['cart']);
  await build('2', []);
  const { facts, screens } = await list();
  assert.deepEqual(facts, { declared: 2, planned: 1, missing: 2 });
  assert.deepEqual(
    screens.map(({ name, planned }) => [name, planned]),
    [
      ['cart', false],
      ['home', true],
    ],
  );
  await build('3', ['cart', 'home']);
  assert.deepEqual(counts((await post({ screens: [screen('home')], archive: [] })).report), [0, 0, 0, 1, 0, []]);
});

test('CONSOLE-7: GET …/screens: pages follow each other by name', async () => {
  const { post, list } = await shop();
  await post({ screens: ['b', 'd', 'a', 'c'].map((name) => screen(name)), archive: [] });
  const names = ({ screens }: Listing) => screens.map(({ name }) => name);
  const first = await list('?limit=3');
  assert.deepEqual([names(first), first.next], [['a', 'b', 'c'], 'c']);
  const rest = await list(`?limit=3&after=${first.next}`);
  assert.deepEqual([names(rest), rest.next], [['d'], null]);
});

test('SCREEN-5: the console shows what the latest build registered', async () => {
  const { console, build } = await shop();
  const read = async () =>
    (await console('GET', '/manifest')).json as {
      manifest: { sdk: string; document: { routes: { name: string; title: string }[] } } | null;
    };
  assert.equal((await read()).manifest, null);
  await build('1', ['home', 'cart']);
  const { manifest } = await read();
  const titles = manifest?.document.routes.map(({ name, title }) => [name, title]);
  assert.deepEqual(
    [manifest?.sdk, titles],
    [
      'web/0.50.0',
      [
        ['home', 'A route'],
        ['cart', 'A route'],
      ],
    ],
  );
});
