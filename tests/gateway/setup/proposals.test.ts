/** Writes of a sync session on a live app wait for a person, and are applied as a whole or not at all, in line with whatever else is written. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { PNG } from '../../support/setup-agent.ts';
import { configOf, KINDS, type Kind, type Listed, listed, liveApp, liveSession, NEW_THEME, type Proposed, propose } from './live-app.ts';
import { article, assertRefused, httpAction, type SetupApp, screen, startSetup, THEME } from './setup-app.ts';

const setup = await startSetup();
const proposal = async (id = ''): Promise<Listed & { write: unknown }> =>
  ((await setup.operator('GET', `/proposals/${id}`)).json as { proposal: Listed & { write: unknown } }).proposal;
const decide = (id: string, verb: 'approve' | 'reject', body: unknown = {}) => setup.operator('POST', `/proposals/${id}/${verb}`, body);

test('PROPOSAL-1: each of the six writes answers 202, changes nothing, is listed with what it would write, and is applied once it is approved', async () => {
  const { app, agent, sessionId } = await liveApp(setup);
  const before = await configOf(agent);
  const proposals: Proposed[] = [];
  for (const kind of KINDS) {
    const made = await propose(agent, kind);
    const { proposed, proposal_id: id, kind: named, summary, note } = made;
    // Appearance and logo are one thing: the logo comes on top of the appearance that waits.
    assert.deepEqual([proposed, named], [true, kind === 'logo' ? 'appearance' : kind]);
    assert.match(id, /^pro_[0-9a-z]{24}$/);
    assert.ok(summary.length > 0 && note.includes('console'));
    assert.equal(made.results !== undefined, kind === 'knowledge' || kind === 'actions');
    assert.equal(made.warnings !== undefined, kind === 'appearance');
    proposals.push(made);
  }
  assert.deepEqual(await configOf(agent), before);
  const all = await listed(app);
  const [replaced, ...waiting] = all;
  const [first, ...others] = proposals;
  assert.deepEqual([replaced?.id, replaced?.status, replaced?.replaced_by], [first?.proposal_id, 'replaced', others[0]?.proposal_id]);
  assert.deepEqual(
    waiting.map((one) => [one.id, one.kind, one.status, one.session_id, one.app_id, one.reason, one.decided_at]),
    others.map((one) => [one.proposal_id, one.kind, 'pending', sessionId, app.appId, null, null]),
  );
  const writeOf = async (n: number) => (await proposal(all[n]?.id)).write;
  assert.deepEqual(await writeOf(0), { body: { theme: NEW_THEME } });
  assert.deepEqual(await writeOf(1), { body: { theme: NEW_THEME }, logo: { bytes: PNG.length } });
  assert.deepEqual(await writeOf(2), { patch: { assistantName: 'Twig', tone: 'Calm.' } });

  assertRefused(await decide(first?.proposal_id ?? '', 'approve'), 409, 'conflict', `replaced by ${others[0]?.proposal_id}`);
  for (const { proposal_id: id, kind } of others) {
    const answer = await decide(id, 'approve');
    assert.deepEqual([answer.status, (answer.json as { status: string }).status], [200, 'approved'], `${kind}: ${answer.text}`);
  }
  const draft = (await app.console<{ draft: { theme: { accent: string; logoAssetId: string } } }>('GET', '/appearance')).draft;
  assert.equal(draft.theme.accent, NEW_THEME.accent);
  assert.match(draft.theme.logoAssetId, /^ast_/);
  const after = JSON.stringify(await configOf(agent));
  for (const word of ['Twig', 'Calm.', 'delivery', 'Something new is said here.', '"cart"']) assert.ok(after.includes(word), word);
});

test('PROPOSAL-2: approving applies through the ordinary rules, and answers what the write itself would have answered', async () => {
  const { app, agent } = await liveApp(setup);
  const results = async (kind: Kind) => {
    const answer = await decide((await propose(agent, kind)).proposal_id, 'approve');
    return (answer.json as { result: Record<string, unknown> }).result;
  };
  assert.deepEqual((await results('appearance')).changed, ['theme.accent']);
  assert.deepEqual((await results('experience')).changed, ['assistantName', 'tone']);
  const { created, updated } = await results('knowledge');
  assert.deepEqual([created, updated], [1, 1]);
  const { added, archived } = await results('screens');
  assert.deepEqual([added, archived], [1, 1]);
  const { facts } = await app.console<{ facts: { knowledge: { indexed: number } } }>('GET', '/status');
  assert.equal(facts.knowledge.indexed, 2);
});

test('PROPOSAL-10, MODEL-43: a choice that chooses nothing is no change where nothing was chosen', async () => {
  const { app, agent } = await liveApp(setup);
  for (const model of [{}, { temperature: null }]) {
    const { status, json } = await agent.send('PUT', '/experience', { model });
    assert.deepEqual([status, (json as { unchanged?: boolean }).unchanged], [200, true]);
  }
  await app.console('PUT', '/experience', { model: { temperature: 1 } });
  const { summary } = (await agent.send('PUT', '/experience', { model: { temperature: null } })).json as Proposed;
  assert.equal(summary, 'model temperature 1 → none.');
});

test('PROPOSAL-9: what was rejected before may be proposed again, and the answer says so with the reason', async () => {
  const { agent } = await liveApp(setup);
  const first = await propose(agent, 'experience');
  assert.equal(first.rejected_before, undefined);
  await decide(first.proposal_id, 'reject', { reason: 'We are called Leaf.' });
  assert.deepEqual((await propose(agent, 'experience')).rejected_before, { id: first.proposal_id, reason: 'We are called Leaf.' });
  assert.equal((await propose(agent, 'knowledge')).rejected_before, undefined);
});

test('PROPOSAL-4: rejecting keeps the reason and applies nothing; neither verdict can be changed', async () => {
  const { app, agent } = await liveApp(setup);
  const before = await configOf(agent);
  const first = await propose(agent, 'experience');
  const second = await propose(agent, 'screens');
  assert.deepEqual((await decide(first.proposal_id, 'reject', { reason: 'We are called Leaf.' })).json, { status: 'rejected' });
  assert.deepEqual((await decide(second.proposal_id, 'reject')).json, { status: 'rejected' });
  assert.deepEqual(await configOf(agent), before);
  const rejected = (await app.console<{ proposals: Listed[] }>('GET', '/proposals?status=rejected')).proposals.map(({ id }) => id);
  assert.deepEqual(rejected, [first.proposal_id, second.proposal_id]);
  assert.deepEqual((await app.console<{ proposals: Listed[] }>('GET', '/proposals?status=pending')).proposals, []);
  assertRefused(await setup.operator('GET', `/apps/${app.appId}/proposals?status=open`), 400, 'invalid_request', 'status must be one of');
  assert.deepEqual(
    (await listed(app)).map(({ status, reason, decided_at: at }) => [status, reason, typeof at]),
    [
      ['rejected', 'We are called Leaf.', 'string'],
      ['rejected', null, 'string'],
    ],
  );
  for (const verb of ['approve', 'reject'] as const) assertRefused(await decide(first.proposal_id, verb), 409, 'conflict', 'decided');
  const third = await propose(agent, 'experience');
  assert.equal((await decide(third.proposal_id, 'approve')).status, 200);
  for (const verb of ['approve', 'reject'] as const) assertRefused(await decide(third.proposal_id, verb), 409, 'conflict', 'decided');
  assertRefused(await decide('pro_none', 'approve'), 404, 'not_found', 'pro_none');
  assertRefused(await decide(third.proposal_id, 'reject', { reason: 'x'.repeat(1_001) }), 400, 'invalid_body', 'reason');
});

test('PROPOSAL-3: approving what changed meanwhile is a conflict, applies nothing and leaves the proposal waiting', async () => {
  const changes: Readonly<Record<Kind, (app: SetupApp) => Promise<unknown>>> = {
    appearance: (app) => app.console('PUT', '/appearance', { theme: { ...THEME, radius: 4 } }),
    logo: (app) => putLogo(app, '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0h8v8z"/></svg>'),
    experience: (app) => app.console('PUT', '/experience', { tone: 'Brisk.' }),
    knowledge: (app) => app.console('POST', '/knowledge', { items: [article('delivery', 'Somebody else wrote this.')] }),
    actions: (app) => app.console('POST', '/actions', { items: [{ external_key: 'search', op: 'archive' }] }),
    screens: (app) => app.console('POST', '/screens', { screens: [screen('cart', 'Basket')] }),
  };
  for (const kind of KINDS) {
    const { app, agent } = await liveApp(setup);
    const { proposal_id: id } = await propose(agent, kind);
    await changes[kind](app);
    const before = await configOf(agent);
    assertRefused(await decide(id, 'approve'), 409, 'conflict', 'changed');
    assert.deepEqual(await configOf(agent), before, kind);
    assert.deepEqual(
      (await listed(app)).map(({ status }) => status),
      ['pending'],
    );
    assert.equal((await decide(id, 'reject')).status, 200);
  }
});

/** A person's logo, over the console; returns its id. */
async function putLogo({ appId }: SetupApp, content: string | Uint8Array): Promise<string> {
  const body = new FormData();
  body.append('file', new Blob([content as string]), 'logo');
  const headers = { Authorization: `Bearer ${setup.service.operatorToken}` };
  const answer = await fetch(`${setup.service.baseUrl}/console/api/apps/${appId}/logo`, { method: 'POST', headers, body });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return (JSON.parse(text) as { logoAssetId: string }).logoAssetId;
}

test('PROPOSAL-4: of verdicts on one proposal at once one counts; of two sessions’ proposals about one item one is approved', async () => {
  const { app, agent } = await liveApp(setup);
  const { proposal_id: id } = await propose(agent, 'knowledge');
  const twice = await Promise.all([decide(id, 'approve'), decide(id, 'approve'), decide(id, 'reject')]);
  assert.deepEqual(twice.map(({ status }) => status).sort(), [200, 409, 409]);
  const rivals = [await propose(agent, 'knowledge', 'The first word.')];
  const { agent: rival } = await liveSession(setup, app);
  rivals.push(await propose(rival, 'knowledge', 'The second word.'));
  const answers = await Promise.all(rivals.map((one) => decide(one.proposal_id, 'approve')));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
});

test('PROPOSAL-1: a write is validated as an applied one: 400, 409, 413, 415 and 422 as usual, and nothing is proposed', async () => {
  const { app, agent } = await liveApp(setup);
  assertRefused(await agent.send('PUT', '/appearance', { theme: THEME, extra: 1 }), 400, 'invalid_body', 'extra');
  assertRefused(await agent.send('PUT', '/appearance', { theme: { ...THEME, accent: 'red' } }), 422, 'invalid_appearance', 'accent');
  const strange = { theme: { ...THEME, logoAssetId: `ast_${'0'.repeat(24)}` } };
  assertRefused(await agent.send('PUT', '/appearance', strange), 422, 'invalid_appearance', 'logoAssetId');
  assertRefused(await agent.send('PUT', '/experience', { guardrails: 'Be nice.' }), 422, 'invalid_experience', 'guardrails');
  assertRefused(await agent.logo(Buffer.from('hello'), 'image/png'), 415, 'unsupported_type');
  assertRefused(await agent.logo(Buffer.alloc(0), 'image/png'), 400, 'empty_file');
  assertRefused(await agent.send('POST', '/screens', { screens: {} }), 400, 'invalid_body');
  const batches: readonly (readonly [path: string, item: unknown, names: string])[] = [
    ['/knowledge', article('bad', ' '), 'content'],
    ['/knowledge', { external_key: 'nobody', op: 'archive' }, 'external_key'],
    ['/actions', httpAction('bad', { method: 'POST', risk: 'write' }), 'confirm_template'],
    ['/actions', { external_key: 'nobody', op: 'archive' }, 'external_key'],
    ['/actions', httpAction('another', { name: 'find_search' }), 'name find_search belongs to'],
  ];
  for (const [path, item, names] of batches) {
    const answer = await agent.send('POST', path, { items: [item] });
    const { results, proposed } = answer.json as Proposed;
    assert.deepEqual([answer.status, proposed, results?.length, results?.[0]?.ok], [422, false, 1, false], answer.text);
    assert.ok(results?.[0]?.error?.includes(names), `${results?.[0]?.error} does not name ${names}`);
  }
  assert.deepEqual(await listed(app), []);
  const bare = await setup.app();
  await bare.console('POST', '/go-live');
  assertRefused(await (await bare.agent('sync')).logo(PNG, 'image/png'), 409, 'draft_invalid', 'PUT /appearance');
});

test('PROPOSAL-17: answers of proposed and of unchanged writes name unknown screens, actions and keys that they wait for, as applied ones do', async () => {
  const { app, agent } = await liveApp(setup);
  const waits = httpAction('waits', { needs_key: { kind: 'header', name: 'X-Api-Key' } });
  const proposed = (await agent.send('POST', '/actions', { items: [httpAction('free'), waits] })).json as Proposed & {
    needs_key: string[];
  };
  assert.deepEqual(
    proposed.results?.map(({ name, needs_key }) => [name, needs_key]),
    [
      ['find_free', false],
      ['find_waits', true],
    ],
  );
  assert.deepEqual(proposed.needs_key, ['find_waits']);
  const screen = { name: 'orders', title: 'Orders', description: 'What was ordered.' };
  const screens = await agent.send('POST', '/screens', { screens: [screen], archive: [{ name: 'never_there' }] });
  assert.deepEqual([screens.status, (screens.json as { unknown: string[] }).unknown], [202, ['never_there']]);
  const nothing = await agent.send('POST', '/screens', { screens: [], archive: [{ name: 'neither' }] });
  assert.deepEqual(nothing.json, { ...(nothing.json as object), unchanged: true, unknown: ['neither'] });
  const { proposal_id: id } = proposed;
  assert.equal((await decide(id, 'approve')).status, 200);
  await app.console('PUT', '/actions/find_waits/key', { value: 'a-key-of-the-shop' });
  const again = (await agent.send('POST', '/actions', { items: [waits] })).json as Proposed;
  assert.deepEqual(
    again.results?.map(({ op, name, needs_key }) => [op, name, needs_key]),
    [['unchanged', 'find_waits', false]],
  );
});

test('PROPOSAL-5: results say of each item whether it is proposed; what failed is not part of the proposal', async () => {
  const { agent } = await liveApp(setup);
  const items = [article('returns', 'New words.'), article('bad', ' '), { external_key: 'nobody', op: 'archive' }];
  const answer = await agent.send('POST', '/knowledge', { items });
  const { results, proposal_id: id } = answer.json as Proposed;
  assert.equal(answer.status, 202);
  assert.deepEqual(
    results?.map(({ external_key, ok, op }) => [external_key, ok, op]),
    [
      ['returns', true, 'proposed'],
      ['bad', false, undefined],
      ['nobody', false, undefined],
    ],
  );
  assert.deepEqual((await proposal(id)).write, { items: [items[0]] });
  const approved = (await decide(id, 'approve')).json as { result: { updated: number; failed: number } };
  assert.deepEqual([approved.result.updated, approved.result.failed], [1, 0]);
});

test('PROPOSAL-5: items of a batch are judged in their order: what an earlier one adds may be archived, a name is given once', async () => {
  const { agent } = await liveApp(setup);
  const judged = async (path: string, items: readonly unknown[]) => {
    const answer = await agent.send('POST', path, { items });
    assert.equal(answer.status, 202, answer.text);
    return (answer.json as Proposed).results?.map(({ ok }) => ok);
  };
  const gone = (key: string) => ({ external_key: key, op: 'archive' });
  assert.deepEqual(await judged('/knowledge', [article('new'), gone('new'), gone('newer')]), [true, true, false]);
  const same = { name: 'find_it' };
  assert.deepEqual(await judged('/actions', [httpAction('a', same), httpAction('b', same), gone('a'), gone('b')]), [
    true,
    false,
    true,
    false,
  ]);
  // The name is free once its holder is archived.
  assert.deepEqual(await judged('/actions', [gone('search'), httpAction('other', { name: 'find_search' })]), [true, true]);
});

test('PROPOSAL-7: the same write sent again, as after a lost answer, is the same proposal while nobody has decided', async () => {
  const { app, agent } = await liveApp(setup);
  for (const kind of KINDS) {
    const { replaces: _, ...first } = await propose(agent, kind);
    assert.deepEqual(await propose(agent, kind), first);
  }
  // Appearance and logo are one.
  assert.equal((await listed(app)).filter(({ status }) => status === 'pending').length, KINDS.length - 1);
  const { proposal_id: id } = await propose(agent, 'experience');
  await decide(id, 'reject');
  assert.notEqual((await propose(agent, 'experience')).proposal_id, id);
});

test('PROPOSAL-1: contrast warnings come with the proposal', async () => {
  const { agent } = await liveApp(setup);
  const answer = await agent.send('PUT', '/appearance', { theme: { ...THEME, onSurface: '#eeeeee' } });
  assert.equal(answer.status, 202);
  assert.ok(((answer.json as Proposed).warnings ?? []).length > 0);
});

test('PROPOSAL-1, PROPOSAL-12: POST /events, /smoke and /complete are never proposals; a proposal outlives its session', async () => {
  const { app, agent } = await liveApp(setup);
  const { proposal_id: id } = await propose(agent, 'experience');
  assert.equal((await agent.send('POST', '/events', { step: 'install', status: 'done' })).status, 200);
  assert.equal((await agent.send('POST', '/smoke')).status, 200);
  const { waiting } = await agent.get<{ waiting: number }>('POST', '/complete', { summary: 'Proposed a name.' });
  assert.equal(waiting, 1);
  assert.equal((await listed(app)).length, 1);
  assert.equal((await decide(id, 'approve')).status, 200);
  const { draft } = await app.console<{ draft: { assistantName: string } }>('GET', '/experience');
  assert.equal(draft.assistantName, 'Twig');
  const failing = await liveApp(setup);
  assert.equal((await failing.agent.send('POST', '/fail', { reason: 'Enough.' })).status, 200);
  assert.deepEqual(await listed(failing.app), []);
});

test('PROPOSAL-15: a proposed write starts its step and adds its line', async () => {
  const { agent, sessionId } = await liveApp(setup);
  const before = (await setup.view(sessionId)).events.length;
  await propose(agent, 'experience');
  const { session, events } = await setup.view(sessionId);
  const [line, ...more] = events.slice(before);
  assert.deepEqual([line?.step, line?.origin, more.length], ['experience', 'server', 0]);
  assert.match(String(line?.title), /^Proposed/);
  assert.equal(session.steps.find(({ id }) => id === 'experience')?.state, 'active');
});

const namesOf = async (app: SetupApp) =>
  (await app.console<{ actions: { name: string }[] }>('GET', '/actions')).actions.map(({ name }) => name).sort();

/** Takes the service a while to look through. */
const slowLogo = () => {
  const paths = Array.from({ length: 4_000 }, (_, n) => `<path d="M${n % 64} 0h8v8z"/>`).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">${paths}</svg>`;
};

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
  const [approved, byHand] = await Promise.all([decide(id, 'approve'), putLogo(app, PNG)]);
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
