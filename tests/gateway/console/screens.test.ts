import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createClient, HANDSHAKE } from '../../support/client.ts';
import { startConsoleApp } from './console-app.ts';

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

async function shop(t: TestContext) {
  const { console, service, app } = await startConsoleApp(t);
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
    const body = { manifest: { version, actions: [], routes }, sdk: 'web/0.50.0' };
    const client = createClient(service.baseUrl, app.testKey);
    const answer = await client.send('POST', '/v1/apps/manifest', body);
    assert.equal(answer.status, 200, answer.text);
    // The app is live: a manifest counts from its first turn on.
    const { manifest_hash } = answer.json as { manifest_hash: string };
    await client.say('Hello', { client: { ...HANDSHAKE, manifest_hash } });
  };
  return { console, post, list, build };
}

function counts({ planned, added, updated, unchanged, archived, unknown }: Report): unknown[] {
  return [planned, added, updated, unchanged, archived, unknown];
}

test('SCREEN-1: POST /screens: adds, updates by name, leaves unchanged what is the same, archives, and names what it does not know', async (t) => {
  const { post, list } = await shop(t);
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

test('SCREEN-2: a screen is planned until a build’s manifest names it', async (t) => {
  const { post, list, build } = await shop(t);
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

test('SCREEN-3: a body that breaks a rule is refused by field, and none of its screens is saved', async (t) => {
  const { console, list } = await shop(t);
  const many = (count: number) => Array.from({ length: count }, (_, n) => screen(`screen_${n}`));
  const bodies: readonly (readonly [unknown, RegExp])[] = [
    [{ screens: [screen('cart'), screen('Not Snake')], archive: [] }, /screens\[1\]\.name/],
    [{ screens: [screen('cart'), screen('home', { title: '' })], archive: [] }, /screens\[1\]\.title/],
    [{ screens: [screen('cart', { route: '/cart' })], archive: [] }, /screens\[0\]\.route/],
    [{ screens: many(51), archive: [] }, /screens/],
  ];
  for (const [body, names] of bodies) {
    const answer = await console('POST', '/screens', body);
    const { error } = answer.json as { error: { code: string; message: string } };
    assert.deepEqual([answer.status, error.code], [400, 'invalid_body'], answer.text);
    assert.match(error.message, names);
  }
  assert.deepEqual((await list()).screens, []);
  assert.equal((await console('POST', '/screens', { screens: many(50), archive: [] })).status, 200);
});

test('CONSOLE-7: GET …/screens: pages follow each other by name', async (t) => {
  const { post, list } = await shop(t);
  await post({ screens: ['b', 'd', 'a', 'c'].map((name) => screen(name)), archive: [] });
  const names = ({ screens }: Listing) => screens.map(({ name }) => name);
  const first = await list('?limit=3');
  assert.deepEqual([names(first), first.next], [['a', 'b', 'c'], 'c']);
  const rest = await list(`?limit=3&after=${first.next}`);
  assert.deepEqual([names(rest), rest.next], [['d'], null]);
});

test('SCREEN-5: the console shows what the latest build registered', async (t) => {
  const { console, build } = await shop(t);
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
