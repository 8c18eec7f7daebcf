/** The longest words, markup and characters that turn the reading direction, in every stored field that a stranger, an agent or a person fills. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startScriptedChat, thread } from '../gateway/runtime/scripted-chat.ts';
import { createClient, createOperator, HANDSHAKE } from '../support/client.ts';
import { AGENT, agentOf, openSession } from '../support/setup-agent.ts';
import { openWorld } from './browser.ts';
import { look } from './look.ts';

/** Markup that would act, a character that turns what follows around, and a word that no line holds. */
const words = (chars: number) => `<img src=x onerror="document.title='taken'">\u202e${'W'.repeat(chars)}`.slice(0, chars);
/** Where such a word widens the page or a part of the page that does not scroll. */
const NARROW = [1_360, 360] as const;

/** An app whose every field is as long and as hostile as it may be. */
async function hostileShop(t: TestContext) {
  const it = await startScriptedChat(t, { settings: { name: words(80) } });
  const { service, app } = it;
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const done = async (method: string, path: string, body: unknown) => {
    const answer = await operator(method, `/apps/${app.appId}${path}`, body);
    assert.ok(answer.status < 300, `${path}: ${answer.text}`);
    return answer.json as Record<string, unknown>;
  };
  const source = { external_key: words(200), kind: 'text', title: words(160), content: words(2_000) };
  await done('POST', '/knowledge', { items: [source] });
  const action = {
    external_key: words(200),
    name: 'w'.repeat(40),
    description: words(500),
    method: 'GET',
    risk: 'read',
    url_template: `https://shop.example.com/${'w'.repeat(300)}`,
    needs_key: { kind: 'header', name: 'X-Api-Key', note: words(200) },
  };
  await done('POST', '/actions', { items: [action] });
  const persona = {
    assistantName: words(40),
    welcomeTitle: words(80),
    welcomeBody: words(160),
    tone: words(1_000),
    suggestions: [words(60)],
  };
  await done('PUT', '/experience', persona);
  await done('POST', '/publish', {});
  it.script([{ text: words(3_000) }]);
  const person = { id: words(128) };
  const said = await it.say(words(2_000), { client: HANDSHAKE, user: person });
  await createClient(service.baseUrl, app.testKey).say(words(2_000), { client: HANDSHAKE });
  const messageId = said.events.find(({ type }) => type === 'turn.start')?.message_id;
  await it.client.send('POST', '/v1/feedback', { message_id: messageId, rating: -1, reason: words(500) });
  const agent = await agentOf(service.baseUrl, (await openSession(operator, app.appId, 'sync')).code);
  await agent.get('POST', '/start', { ...AGENT, model: words(80), os: words(40) });
  const event = { step: 'discover', status: 'done', title: words(120), detail: words(2_000), data: { [words(60)]: words(500) } };
  await agent.get('POST', '/events', { events: [event] });
  const proposed = await agent.send('PUT', '/experience', { ...persona, tone: words(900), reason: words(1_000) });
  assert.equal(proposed.status, 202, proposed.text);
  return { it, appId: app.appId, organisationId: app.organisationId, conversation: thread(said), person: person.id };
}

/** What is wider than the window: first what is in no part that scrolls, then what is laid out past such a part. */
function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const scrolls = (element: Element | null): boolean =>
      element !== null && (/auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    const wide = [...document.body.querySelectorAll('*')].filter((each) => each.getBoundingClientRect().right > innerWidth + 1);
    return [...wide.filter((each) => !scrolls(each)), ...wide.filter((each) => getComputedStyle(each).position === 'absolute')]
      .slice(0, 5)
      .map((each) => `${each.tagName}.${each.className}`);
  });
}

test('PAGE-2, PAGE-9: what strangers, agents and people wrote is text on every page, and widens none', async (t) => {
  const { it, appId, organisationId, conversation, person } = await hostileShop(t);
  const { signedIn } = await openWorld(t, it.service);
  const { page } = await signedIn('/console');
  const app = `/console/apps/${appId}`;
  const pages: readonly (readonly [address: string, title: RegExp])[] = [
    ['/console', /Overview/],
    [`/console/orgs/${organisationId}`, /Test/],
    [`/console/orgs/${organisationId}/usage`, /Usage/],
    [app, /./],
    ...[
      'appearance',
      'assistant',
      'knowledge',
      'actions',
      'proposals',
      'test',
      'setup',
      'go-live',
      'conversations',
      'usage',
      'settings',
    ].map((section) => [`${app}/${section}`, /./] as const),
    [`${app}/knowledge?question=${encodeURIComponent(words(100))}`, /Knowledge/],
    [`${app}/actions?show=actions&item=${'w'.repeat(40)}`, /Actions/],
    [`${app}/conversations?view=feedback`, /Conversations/],
    [`${app}/conversations?view=people&person=${encodeURIComponent(person)}`, /Conversations/],
    [`${app}/conversations/${conversation}`, /./],
    ['/console/nodes', /Nodes/],
    ['/console/traces', /./],
    [`/console/traces/${appId}`, /./],
    ['/console/machines', /Machines/],
    ['/console/machines/chat-turn', /turn/],
  ];
  const faults: string[] = [];
  for (const [address, title] of pages) {
    await page.goto(it.service.baseUrl + address);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await page.waitForLoadState('networkidle').catch(() => undefined);
    for (const width of NARROW) {
      await page.setViewportSize({ width, height: 860 });
      const wide = await tooWide(page);
      if (wide.length > 0) faults.push(`${address}, ${width}: ${wide.join(' ')}`);
    }
    await look(page, `hostile${address.replaceAll(/[^a-z]+/g, '-').slice(0, 60)}`);
    assert.notEqual(await page.title(), 'taken', address);
    // The page's policy would not run it: markup it must not be either.
    assert.equal(await page.locator('img[src="x"]').count(), 0, address);
  }
  assert.deepEqual(faults, []);
});
