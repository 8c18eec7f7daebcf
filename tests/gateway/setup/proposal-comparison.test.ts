/** What the console shows of a waiting proposal: what is there now beside what it would write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { liveApp, liveSession, NEW_THEME, propose } from './live-app.ts';
import { article, startSetup, THEME } from './setup-app.ts';

const setup = await startSetup();

interface Comparison {
  readonly items: readonly {
    readonly name: string;
    readonly change: string;
    readonly fields: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[];
  }[];
  readonly contrast: readonly Readonly<Record<string, unknown>>[];
  readonly outdated: boolean;
  readonly overlaps: readonly string[];
}

async function comparison(id: string): Promise<Comparison | null> {
  const answer = await setup.operator('GET', `/proposals/${id}`);
  return (answer.json as { proposal: { comparison: Comparison | null } }).proposal.comparison;
}

const CONTRASTS = ['theme', 'themeDark'].flatMap((part) => [`${part} the accent on the page`, `${part} text on the accent`]);

test('PROPOSAL-16: each field that would change stands beside what is there now, of all kinds', async () => {
  const { agent } = await liveApp(setup);
  const look = await comparison((await propose(agent, 'appearance')).proposal_id);
  assert.deepEqual(look && { ...look, contrast: look.contrast.map(({ part, subject }) => `${part} ${subject}`) }, {
    contrast: CONTRASTS,
    items: [{ name: 'theme', change: 'updated', fields: [{ field: 'accent', before: THEME.accent, after: NEW_THEME.accent }] }],
    outdated: false,
    overlaps: [],
  });
  const persona = await comparison((await propose(agent, 'experience')).proposal_id);
  assert.deepEqual(persona?.items, [
    {
      name: 'persona',
      change: 'updated',
      fields: [
        { field: 'assistantName', before: 'Leaf', after: 'Twig' },
        { field: 'tone', before: null, after: 'Calm.' },
      ],
    },
  ]);
  const knowledge = await comparison((await propose(agent, 'knowledge')).proposal_id);
  const [returns, delivery] = knowledge?.items ?? [];
  const old = article('returns').content;
  assert.deepEqual(returns?.fields, [{ field: 'content', before: old, after: 'Something new is said here.' }]);
  assert.deepEqual([returns?.change, delivery?.name, delivery?.change], ['updated', 'delivery', 'added']);
  const actions = await comparison((await propose(agent, 'actions')).proposal_id);
  const description = { field: 'description', before: 'Finds what is asked for.', after: 'Something new is said here.' };
  assert.deepEqual(actions?.items, [{ name: 'find_search', change: 'updated', fields: [description] }]);
  const screens = await comparison((await propose(agent, 'screens')).proposal_id);
  assert.deepEqual(
    screens?.items.map(({ name, change }) => [name, change]),
    [
      ['cart', 'added'],
      ['orders', 'archived'],
    ],
  );
});

test('PROPOSAL-16: it says which other waiting ones are about the same, when it is out of date, and nothing once it is decided', async () => {
  const { app, agent } = await liveApp(setup);
  const first = (await propose(agent, 'experience')).proposal_id;
  const { agent: next } = await liveSession(setup, app);
  const other = (await next.send('PUT', '/experience', { tone: 'Loud.' })).json as { proposal_id: string };
  assert.deepEqual((await comparison(first))?.overlaps, [other.proposal_id]);
  assert.deepEqual((await comparison(other.proposal_id))?.overlaps, [first]);
  assert.equal((await setup.operator('POST', `/proposals/${other.proposal_id}/approve`, {})).status, 200);
  assert.equal((await comparison(first))?.outdated, true);
  assert.equal((await setup.operator('POST', `/proposals/${first}/approve`, {})).status, 409);
  assert.equal(await comparison(other.proposal_id), null);
});

test('PROPOSAL-16: of a look the contrast of each pair that would be read otherwise, now and then, below its minimum too', async () => {
  const { agent } = await liveApp(setup);
  const faint = await agent.send('PUT', '/appearance', { theme: { ...THEME, accent: '#f4f4f4' } });
  assert.equal(faint.status, 202, faint.text);
  const contrast = (await comparison((faint.json as { proposal_id: string }).proposal_id))?.contrast ?? [];
  const page = contrast.find(({ part, subject }) => part === 'theme' && subject === 'the accent on the page');
  assert.equal(page?.minimum, 3);
  assert.ok(Number(page?.before) >= 3 && Number(page?.after) < 1.2, JSON.stringify(page));
  assert.equal(
    contrast.some(({ subject }) => subject === 'text on the page'),
    false,
  );
});

test('LOGO-11: a proposed logo is read as it would be stored, the one of the draft beside it; neither runs anything', async () => {
  const { agent, app } = await liveApp(setup);
  const { appId } = app;
  const read = (path: string, token = setup.service.operatorToken) =>
    fetch(`${setup.service.baseUrl}/console/api${path}`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal((await read(`/apps/${appId}/logo`)).status, 404);
  const hostile =
    '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8" onload="alert(1)"><script>alert(1)</script><rect width="8" height="8"/></svg>';
  const proposed = await agent.logo(Buffer.from(hostile), 'image/png');
  assert.equal(proposed.status, 202, proposed.text);
  const id = (proposed.json as { proposal_id: string }).proposal_id;
  const picture = await read(`/proposals/${id}/logo`);
  const drawn = await picture.text();
  assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png']);
  assert.match(picture.headers.get('content-security-policy') ?? '', /sandbox/);
  assert.doesNotMatch(drawn, /svg|script|onload/);
  assert.equal((await read(`/proposals/${id}/logo`, 'rd_wrong')).status, 401);
  assert.equal((await setup.operator('POST', `/proposals/${id}/approve`)).status, 200);
  assert.equal(await (await read(`/apps/${appId}/logo`)).text(), drawn);
  const persona = (await propose(agent, 'experience')).proposal_id;
  assert.equal((await read(`/proposals/${persona}/logo`)).status, 404);
});
