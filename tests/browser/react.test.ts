/** The React component in a page of somebody's app, against the running service. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { build } from 'esbuild';
import { POINTS, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { createOperator } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { snippetsIn } from '../support/guide.ts';
import { projectRoot } from '../support/project-root.ts';
import { openWorld } from './browser.ts';
import { serveHostPages } from './host-page.ts';

const SOON_MS = 60_000;

/** An app whose buttons mount the assistant, take it away, and sign a person in. React's strict mode mounts everything twice. */
const appSource = (address: string, key: string, [hmac, renewed]: readonly string[]) => `
import { createElement as h, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Assistant } from './web/react/assistant.ts';

// That somebody is refused is told to whoever builds the page, and is wanted here.
addEventListener('error', (event) => {
  if (event.error?.name === 'ClientError' || event.error?.name === 'TypeError') event.preventDefault();
  window.refused = event.message;
});
window.setUps = 0;
const CITIES = ['Oslo', 'Rome'];
function App() {
  const [n, setN] = useState(0);
  // Another function at every render, and so are its handlers.
  const setUp = (widget) => {
    window.setUps++;
    widget.registerAction({ name: 'get_city', description: 'Tells the city.', risk: 'read' }, () => ({ city: CITIES[n] }));
  };
  const follow = n === 0 ? {} : { colorScheme: 'dark', locale: 'de', words: { composer: 'Schreib etwas' }, theme: { accent: '#aa0033' } };
  const context = () => ({ app_state: { n } });
  const [isThere, setThere] = useState(true);
  const [version, setVersion] = useState('latest');
  const [address, setAddress] = useState(${JSON.stringify(address)});
  const [{ user, userToken }, setSigned] = useState({});
  const sign = (id, hmac, userToken) => () => setSigned({ user: { id, hmac }, userToken });
  return h('main', null,
    h('h1', null, 'Shop'),
    h('button', { onClick: () => setThere(!isThere) }, 'Mount'),
    h('button', { onClick: () => setN(1) }, 'Other props'),
    h('button', { onClick: sign('person-1', ${JSON.stringify(hmac)}, 'person-1') }, 'Sign in'),
    h('button', { onClick: sign('person-1', ${JSON.stringify(renewed)}) }, 'Renew'),
    h('button', { onClick: sign('person-2', '0'.repeat(64), 'person-2') }, 'Somebody else'),
    h('button', { onClick: () => setVersion('../../v1') }, 'Elsewhere'),
    h('button', { onClick: () => setAddress(undefined) }, 'Nowhere'),
    isThere ? h(Assistant, { appKey: ${JSON.stringify(key)}, address, version, user, userToken, setUp, context, ...follow }) : null);
}
createRoot(document.querySelector('#root')).render(h(StrictMode, null, h(App)));
`;

async function bundled(source: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: projectRoot(),
    stdin: { contents: source, resolveDir: projectRoot(), loader: 'jsx' },
    bundle: true,
    write: false,
    format: 'iife',
    jsx: 'automatic',
    alias: { '@assistant-service/react': './web/react/assistant.ts' },
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  return outputFiles[0]?.text ?? '';
}

async function openApp(t: TestContext) {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const operator = createOperator(it.service.baseUrl, it.service.operatorToken);
  const secret = `/apps/${it.app.appId}/identity-secret`;
  const hmacs = [await operator('GET', secret), await operator('POST', `${secret}/rotate`)].map(({ json }) =>
    createHmac('sha256', (json as { identity_secret: string }).identity_secret)
      .update('person-1')
      .digest('hex'),
  );
  const script = await bundled(appSource(it.service.baseUrl, it.app.testKey, hmacs));
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>';
  const policy = `script-src 'self' ${it.service.baseUrl}; require-trusted-types-for 'script'; trusted-types assistant-widget`;
  const pages = await serveHostPages(t, { '/app': { html, script, headers: { 'Content-Security-Policy': policy } } });
  const { page } = await world.open();
  await page.goto(pages.url('/app'));
  return { it, page };
}

test('WIDGET-12, CLIENT-16: in React the widget comes with its component and goes with it, runs its actions once, and follows who is signed in; whom the service refuses sees and sends nothing of the person before', async (t) => {
  const { it, page } = await openApp(t);
  const launcher = page.getByRole('button', { name: 'Ask the assistant' });
  await launcher.click();
  const field = page.getByRole('textbox', { name: 'Write a message' });
  it.script([{ call: 'get_city', args: {}, id: 'call_city' }], [{ text: 'You are in Oslo.' }]);
  await field.fill('Where am I?');
  await field.press('Enter');
  await page.getByText('You are in Oslo.').waitFor();
  assert.match(it.toldOf('call_city'), /Oslo/);
  assert.equal(await page.locator('assistant-widget').count(), 1);

  const identified = page.waitForResponse((response) => response.url().endsWith('/identify'), { timeout: SOON_MS });
  await page.getByRole('button', { name: 'Sign in' }).click();
  assert.equal((await identified).status(), 200);

  const said = () => page.waitForRequest((request) => request.url().endsWith('/v1/chat'), { timeout: SOON_MS });
  const say = async (text: string) => {
    const sent = said();
    it.script([{ text: `To ${text}` }]);
    await field.fill(text);
    await field.press('Enter');
    const { user } = (await sent).postDataJSON() as { user?: { id: string } | null };
    await page.getByText(`To ${text}`).waitFor();
    return [user?.id, (await (await sent).allHeaders())['x-service-user-token'], (await (await sent).allHeaders())['x-service-device']];
  };
  const first = await say('the first');
  assert.deepEqual(first.slice(0, 2), ['person-1', 'person-1']);
  const renewed = page.waitForResponse((response) => response.url().endsWith('/identify'), { timeout: SOON_MS });
  await page.getByRole('button', { name: 'Renew' }).click();
  assert.equal((await renewed).status(), 200);
  const bare = await say('the first without a token');
  assert.deepEqual(bare, ['person-1', undefined, first[2]], 'a token that is taken away with the signature renewed is gone');
  await field.fill('Begun by the first');
  const refused = page.waitForResponse((response) => response.url().endsWith('/identify'), { timeout: SOON_MS });
  await page.getByRole('button', { name: 'Somebody else' }).click();
  assert.equal((await refused).status(), 403);
  for (const text of ['You are in Oslo.', 'To the first']) assert.equal(await page.getByText(text).count(), 0, text);
  assert.equal(await field.inputValue(), '');
  const nobody = await say('nobody');
  assert.deepEqual(nobody.slice(0, 2), [undefined, undefined]);
  assert.notEqual(nobody[2], first[2]);

  await page.getByRole('button', { name: 'Mount' }).click();
  await eventually(
    async () => (await page.locator('assistant-widget').count()) === 0,
    SOON_MS,
    () => 'the widget went with its component',
  );
  await page.getByRole('button', { name: 'Mount' }).click();
  await launcher.waitFor();
  assert.equal(await page.locator('assistant-widget').count(), 1);
  assert.equal(await page.locator('script[src$="/sdk/web/latest/stub.js"]').count(), 1);
});

test('WIDGET-12, WIDGET-37: all props are followed, handlers included, nothing is registered twice in strict mode, and Trusted Types may be required', async (t) => {
  const { it, page } = await openApp(t);
  const isKept = () => page.evaluate("Object.keys(localStorage).some((name) => name.endsWith(':manifest'))");
  await eventually(async () => (await isKept()) === true, SOON_MS);
  const registered: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/v1/apps/manifest')) registered.push(request.url());
  });
  await page.reload();
  await page.getByRole('button', { name: 'Ask the assistant' }).click();
  const ask = async (name: string, call: string, city: string) => {
    const field = page.getByRole('textbox', { name });
    it.script([{ call: 'get_city', args: {}, id: call }], [{ text: `You are in ${city}.` }]);
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/chat'), { timeout: SOON_MS });
    await field.fill('Where am I?');
    await field.press('Enter');
    await page.getByText(`You are in ${city}.`).waitFor();
    assert.match(it.toldOf(call), new RegExp(city));
    const { context, client } = (await sent).postDataJSON() as { context?: { app_state: unknown }; client: { locale: string } };
    return [context?.app_state, client.locale];
  };
  assert.deepEqual(await ask('Write a message', 'call_1', 'Oslo'), [{ n: 0 }, 'en']);
  assert.equal(await page.evaluate('setUps'), 1);
  await page.getByRole('button', { name: 'Other props' }).click();
  assert.deepEqual(await ask('Schreib etwas', 'call_2', 'Rome'), [{ n: 1 }, 'de']);
  const widget = page.locator('assistant-widget');
  assert.deepEqual([await widget.count(), await widget.getAttribute('data-scheme')], [1, 'dark']);
  assert.equal(
    await page.locator('assistant-widget .launcher').evaluate((each) => getComputedStyle(each).backgroundColor),
    'rgb(170, 0, 51)',
  );
  assert.ok(registered.length <= 1, `${registered.length} manifests: what stays as it was is not registered again`);
});

test('WIDGET-40, WIDGET-12: the React component loads a script of the service alone, and says what is wrong with another address', async (t) => {
  const { page } = await openApp(t);
  await page.getByRole('button', { name: 'Ask the assistant' }).waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.getByRole('button', { name: 'Elsewhere' }).click();
  const refused = () => page.evaluate("window.refused ?? ''");
  await eventually(async () => /address must be the origin of the service.*\.\.\/v1\/stub\.js came/.test(String(await refused())), SOON_MS);
  assert.deepEqual(
    asked.filter((url) => url.endsWith('.js')),
    [],
  );
  await page.getByRole('button', { name: 'Nowhere' }).click();
  await eventually(async () => /address must be the origin.*undefined\/sdk\/web/.test(String(await refused())), SOON_MS);
  await page.getByRole('heading', { name: 'Shop' }).waitFor();
});

test('HOUSE-20, WIDGET-12: the component of the guide works as it stands there', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const [shop = '', drawing = '', ...others] = snippetsIn('jsx', 'docs/sdk.md');
  assert.deepEqual(others, []);
  const own = shop.replace('https://assistant.example', it.service.baseUrl).replace('rd_pk_live_…', it.app.testKey);
  const script = await bundled(`${own}
    ${drawing}
    window.drawPoints = drawPoints;
    const readOrder = ({ order_id }) => ({ order_id, status: 'shipped' });
    createRoot(document.querySelector('#root')).render(<Shop user={null} />);`);
  const html =
    '<!doctype html><html lang="en"><title>Shop</title><body><div id="root"></div><script src="/shop.js"></script></body></html>';
  const pages = await serveHostPages(t, { '/shop': { html, script } });
  const { page } = await world.open();
  await page.goto(pages.url('/shop'));
  await page.getByRole('button', { name: 'Ask the assistant' }).click();
  it.script([{ call: 'get_order', args: { order_id: 'A-1' }, id: 'call_1' }], [{ text: 'It is on its way.' }]);
  const field = page.getByRole('textbox', { name: 'Write a message' });
  await field.fill('Where is it?');
  await field.press('Enter');
  await page.getByText('It is on its way.').waitFor();
  assert.match(it.toldOf('call_1'), /shipped/);
  await page.evaluate("void Assistant.registerComponent('key_points', drawPoints)");
  it.script([{ call: 'key_points', args: POINTS, id: 'call_2' }], [{ text: 'By post.' }]);
  await field.fill('How long?');
  await field.press('Enter');
  await page.getByRole('button', { name: 'Two days.' }).click();
  await page.getByText('By post.').waitFor();
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByRole('button', { name: 'Two days.' }).waitFor({ state: 'detached' });
});
