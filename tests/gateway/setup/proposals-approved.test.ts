/** A proposal is applied as a whole or not at all, in line with whatever else is written to its app. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { PNG } from '../../support/setup-agent.ts';
import { listed, liveApp, type Proposed } from './live-app.ts';
import { article, assertRefused, httpAction, type SetupApp, startSetup } from './setup-app.ts';

const setup = await startSetup();
const decide = (id: string, verb: 'approve' | 'reject', body: unknown = {}) => setup.operator('POST', `/proposals/${id}/${verb}`, body);

const namesOf = async (app: SetupApp) =>
  (await app.console<{ actions: { name: string }[] }>('GET', '/actions')).actions.map(({ name }) => name).sort();

/** Takes the service a while to look through. */
const slowLogo = () => {
  const paths = Array.from({ length: 4_000 }, (_, n) => `<path d="M${n % 64} 0h8v8z"/>`).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">${paths}</svg>`;
};

/** A person's logo, over the console; it is looked through at once. Returns its id. */
async function putLogo({ appId }: SetupApp): Promise<string> {
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(PNG)], { type: 'image/png' }), 'logo.png');
  const headers = { Authorization: `Bearer ${setup.service.operatorToken}` };
  const answer = await fetch(`${setup.service.baseUrl}/console/api/apps/${appId}/logo`, { method: 'POST', headers, body });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return (JSON.parse(text) as { logoAssetId: string }).logoAssetId;
}

test('PROPOSAL-3: when one item of a proposal would be refused by now, approving is a conflict, says which, and applies none', async () => {
  const { app, agent } = await liveApp(setup);
  const items = [httpAction('a', { name: 'find_x' }), httpAction('b', { name: 'find_y' })];
  const { proposal_id: id } = (await agent.send('POST', '/actions', { items })).json as Proposed;
  await app.console('POST', '/actions', { items: [httpAction('c', { name: 'find_y' })] });
  const before = await namesOf(app);
  assertRefused(await decide(id, 'approve'), 409, 'conflict', 'name find_y belongs to');
  assert.deepEqual(await namesOf(app), before);
  assert.deepEqual(
    (await listed(app)).map(({ status }) => status),
    ['pending'],
  );
  // Once there is room for it, the same proposal is applied.
  await app.console('POST', '/actions', { items: [{ external_key: 'c', op: 'archive' }] });
  assert.equal((await decide(id, 'approve')).status, 200);
});

test("PROPOSAL-13: a person's write that comes while a proposal is applied is applied after it, and stays", async () => {
  const { app, agent } = await liveApp(setup);
  const proposed = await agent.logo(Buffer.from(slowLogo()), 'image/svg+xml');
  assert.equal(proposed.status, 202, proposed.text);
  const { proposal_id: id } = proposed.json as Proposed;
  const [approved, byHand] = await Promise.all([decide(id, 'approve'), putLogo(app)]);
  const { draft } = await app.console<{ draft: { theme: { logoAssetId: string } } }>('GET', '/appearance');
  // Whichever came first: approved before it, or refused after it.
  assert.ok([200, 409].includes(approved.status), approved.text);
  assert.equal(draft.theme.logoAssetId, byHand);
});

test('PROPOSAL-5: what a batch does to names and counts is judged item by item, as applying does', async () => {
  const { app, agent } = await liveApp(setup);
  const judged = async (items: readonly unknown[]) => {
    const { results, proposal_id: id } = (await agent.send('POST', '/actions', { items })).json as Proposed;
    return { id, ok: results?.map(({ ok }) => ok) };
  };
  // A name that an earlier item gave up is free, and belongs to who took it.
  const renamed = [httpAction('search', { name: 'find_other' }), httpAction('new', { name: 'find_search' })];
  const { id, ok } = await judged([...renamed, httpAction('newer', { name: 'find_search' })]);
  assert.deepEqual(ok, [true, true, false]);
  assert.equal((await decide(id, 'approve')).status, 200);
  assert.deepEqual(await namesOf(app), ['find_other', 'find_search']);
  // 200 actions are in service.
  for (let n = 2; n < 200; n += 33) {
    const items = Array.from({ length: Math.min(33, 200 - n) }, (_, k) => httpAction(`many_${n + k}`));
    await app.console('POST', '/actions', { items });
  }
  const gone = { external_key: 'many_2', op: 'archive' };
  const full = [httpAction('one_more'), gone, httpAction('in_its_place'), httpAction('too_many')];
  assert.deepEqual((await judged(full)).ok, [false, true, true, false]);
});

test('SCREEN-4: more screens than an app may have are a conflict when they are proposed', async () => {
  const { app, agent } = await liveApp(setup);
  const screens = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `screen_${from + n}`, title: 'One', description: 'Shows one thing.' }));
  for (let n = 1; n < 500; n += 50) await app.console('POST', '/screens', { screens: screens(n, Math.min(50, 500 - n)) });
  assertRefused(await agent.send('POST', '/screens', { screens: screens(900, 1) }), 409, 'conflict', '500');
  const swapped = { screens: screens(900, 1), archive: [{ name: 'screen_1' }] };
  assert.equal((await agent.send('POST', '/screens', swapped)).status, 202);
  assert.equal((await agent.send('POST', '/screens', { screens: [{ ...screens(5, 1)[0], title: 'Other' }] })).status, 202);
});

test('PROPOSAL-11: lists proposals without what they would write, however much that is; GET /proposals/:id shows it', async () => {
  const { app, agent } = await liveApp(setup);
  const items = [article('returns', `Long. ${randomBytes(20_000).toString('hex')}`)];
  const { proposal_id: id, summary } = (await agent.send('POST', '/knowledge', { items })).json as Proposed;
  const answer = await setup.operator('GET', `/apps/${app.appId}/proposals`);
  assert.ok(answer.text.length < 1_000, `${answer.text.length} characters`);
  const [entry] = (answer.json as { proposals: Record<string, unknown>[] }).proposals;
  assert.deepEqual([entry?.id, entry?.summary, 'write' in (entry ?? {})], [id, summary, false]);
  assert.ok((entry?.bytes as number) > 40_000);
  const one = await setup.operator('GET', `/proposals/${id}`);
  const { comparison, ...shown } = (one.json as { proposal: Record<string, unknown> }).proposal;
  assert.deepEqual(shown, { ...entry, write: { items } });
  assert.ok(comparison !== undefined);
  assertRefused(await setup.operator('GET', '/proposals/pro_none'), 404, 'not_found', 'pro_none');
});
