/** The writes of the setup interface over HTTP: what is said to have changed, and that the same sent twice changes nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Agent, PNG } from '../../support/setup-agent.ts';
import { article, assertRefused, httpAction, screen, startSetup, THEME } from './setup-app.ts';

const setup = await startSetup();

const newAgent = async () => (await setup.app()).agent();
/** Everything that is configured, as GET /context tells it. */
const configOf = async (agent: Agent) => (await agent.get<{ config: unknown }>('GET', '/context')).config;

/** Sends it twice; the second time the configuration stays as it is. Both answers. */
async function twice<Body>(agent: Agent, method: string, path: string, body: unknown): Promise<readonly [first: Body, second: Body]> {
  const first = await agent.get<Body>(method, path, body);
  const before = await configOf(agent);
  const second = await agent.get<Body>(method, path, body);
  assert.deepEqual(await configOf(agent), before);
  return [first, second];
}

interface Appearance {
  readonly saved: boolean;
  readonly changed: readonly string[];
  readonly draft: { readonly theme: Record<string, unknown>; readonly themeDark?: Record<string, unknown>; readonly copilot?: unknown };
  readonly warnings: readonly Warning[];
}

interface Warning {
  readonly check: string;
  readonly what: string;
  readonly ratio: number;
  readonly minimum: number;
  readonly fix?: { readonly token: string; readonly suggested: string };
}

test('APPEARANCE-3: PUT /appearance: changed names the tokens that did, and is empty for the same again', async () => {
  const agent = await newAgent();
  const body = {
    theme: { ...THEME, radius: 8 },
    themeDark: { accent: '#40c0a0' },
    copilot: { launcherLabel: 'Ask' },
    reason: 'From theme.ts',
  };
  const [first, second] = await twice<Appearance>(agent, 'PUT', '/appearance', body);
  const tokens = ['theme.surface', 'theme.onSurface', 'theme.accent', 'theme.onAccent', 'theme.radius', 'themeDark.accent'];
  assert.deepEqual([...first.changed].sort(), [...tokens, 'copilot.launcherLabel'].sort());
  assert.deepEqual(Object.keys(first).sort(), ['changed', 'draft', 'saved', 'warnings']);
  assert.deepEqual(first.draft, body);
  assert.deepEqual([second.saved, second.changed, second.draft], [true, [], body]);
  const third = await agent.get<Appearance>('PUT', '/appearance', { theme: { ...THEME, accent: '#0b5f4f' } });
  assert.deepEqual([...third.changed].sort(), ['theme.accent', 'theme.radius', 'themeDark.accent']);
  assert.deepEqual(third.draft.copilot, body.copilot);
});

test('APPEARANCE-2, LOGO-10: the theme replaces the draft theme and keeps an uploaded logo; POST /logo of the same image changes nothing', async () => {
  const agent = await newAgent();
  await agent.get('PUT', '/appearance', { theme: { ...THEME, radius: 8 } });
  const { saved, draft, logoAssetId } = (await agent.logo(PNG, 'image/png')).json as {
    saved: boolean;
    draft: { theme: object };
    logoAssetId: string;
  };
  assert.deepEqual([saved, draft], [true, { theme: { ...THEME, radius: 8, logoAssetId } }]);
  const before = await configOf(agent);
  assert.equal(((await agent.logo(PNG, 'image/png')).json as { logoAssetId: string }).logoAssetId, logoAssetId);
  assert.deepEqual(await configOf(agent), before);
  const replaced = await agent.get<Appearance>('PUT', '/appearance', { theme: THEME });
  assert.deepEqual([replaced.changed, replaced.draft.theme], [['theme.radius'], { ...THEME, logoAssetId }]);
  const named = await agent.get<Appearance>('PUT', '/appearance', { theme: { ...THEME, logoAssetId } });
  assert.deepEqual(named.changed, []);
});

test('APPEARANCE-4: a logoAssetId of another app, or of nobody, is refused wherever it is named', async () => {
  const other = await newAgent();
  await other.get('PUT', '/appearance', { theme: THEME });
  const { logoAssetId: foreign } = (await other.logo(PNG, 'image/png')).json as { logoAssetId: string };
  const agent = await newAgent();
  for (const logoAssetId of [foreign, `ast_${'0'.repeat(24)}`]) {
    const light = await agent.send('PUT', '/appearance', { theme: { ...THEME, logoAssetId } });
    assertRefused(light, 422, 'invalid_appearance', 'theme.logoAssetId');
    const dark = await agent.send('PUT', '/appearance', { theme: THEME, themeDark: { logoAssetId } });
    assertRefused(dark, 422, 'invalid_appearance', 'themeDark.logoAssetId');
  }
  assert.deepEqual(((await configOf(agent)) as { appearance: { draft: unknown } }).appearance.draft, null);
});

/** The body with one suggested fix in it. */
function applied(body: { theme: Record<string, unknown>; themeDark?: Record<string, unknown> }, fix: NonNullable<Warning['fix']>) {
  const dark = fix.token.startsWith('themeDark.');
  const token = dark ? fix.token.slice('themeDark.'.length) : fix.token;
  if (dark) return { ...body, themeDark: { ...body.themeDark, [token]: fix.suggested } };
  return { ...body, theme: { ...body.theme, [token]: fix.suggested } };
}

test('APPEARANCE-7: failing pairs are warnings with check, what, ratio, minimum and a fix; each fix removes its warning, and fixing goes to an end', async () => {
  const agent = await newAgent();
  const weak = {
    theme: { surface: '#ffffff', onSurface: '#999999', accent: '#8ad0c0', onAccent: '#ffffff', danger: '#ffb0b0' },
    themeDark: { surface: '#101010', onSurface: '#404040' },
  };
  const { saved, warnings } = await agent.get<Appearance>('PUT', '/appearance', weak);
  assert.equal(saved, true);
  assert.ok(warnings.some(({ fix }) => fix?.token.startsWith('themeDark.')) && warnings.some(({ fix }) => fix?.token === 'onSurface'));
  for (const { what, ratio, minimum, fix } of warnings) {
    assert.ok(ratio < minimum && what.includes(String(ratio)));
    assert.ok(fix !== undefined, what);
    const after = await agent.get<Appearance>('PUT', '/appearance', applied(weak, fix));
    // `what` begins with the pair it is about.
    const pair = what.slice(0, what.indexOf(':'));
    assert.ok(!after.warnings.some((other) => other.what.startsWith(`${pair}:`)), `${pair} still fails with ${fix.token} ${fix.suggested}`);
  }
  let body: Parameters<typeof applied>[0] = weak;
  for (let round = 0; round < 20; round++) {
    const { warnings: left } = await agent.get<Appearance>('PUT', '/appearance', body);
    const fix = left.find((one) => one.fix !== undefined)?.fix;
    if (fix === undefined) break;
    body = applied(body, fix);
  }
  assert.deepEqual((await agent.get<Appearance>('PUT', '/appearance', body)).warnings, []);
});

interface Experience {
  readonly saved: boolean;
  readonly draft: object;
  readonly personaVersion: number;
  readonly changed: readonly string[];
}

test('PERSONA-1, PERSONA-2: PUT /experience: a patch; changed names its fields, and the version rises with them only', async () => {
  const agent = await newAgent();
  const patch = { assistantName: 'Leaf', topics: ['politics'], languages: ['en', 'pt-BR'], suggestions: ['How hot?'] };
  const [first, second] = await twice<Experience>(agent, 'PUT', '/experience', patch);
  assert.deepEqual(first, { saved: true, draft: patch, personaVersion: 1, changed: Object.keys(patch) });
  assert.deepEqual(second, { saved: true, draft: patch, personaVersion: 1, changed: [] });
  const tone = await agent.get<Experience>('PUT', '/experience', { tone: 'Calm.', assistantName: 'Leaf' });
  assert.deepEqual([tone.changed, tone.personaVersion, tone.draft], [['tone'], 2, { ...patch, tone: 'Calm.' }]);
  const reason = await agent.get<Experience>('PUT', '/experience', { reason: 'From the brand book.' });
  assert.deepEqual([reason.changed, reason.personaVersion], [[], 2]);
  const none = await agent.get<Experience>('PUT', '/experience', {});
  assert.deepEqual([none.changed, none.personaVersion], [[], 2]);
});

interface Batch {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly archived: number;
  readonly failed: number;
  readonly needs_key: readonly string[];
  readonly results: readonly {
    readonly external_key: string;
    readonly ok: boolean;
    readonly op: string;
    readonly id: string;
    readonly chunks: number;
  }[];
}

const opsOf = ({ results }: Batch) => results.map(({ op }) => op);

test('KNOWLEDGE-1, KNOWLEDGE-4: POST /knowledge: created, updated, unchanged and archived by external_key; text is indexed before the answer', async () => {
  const agent = await newAgent();
  const items = [article('returns'), article('delivery')];
  const [first, second] = await twice<Batch>(agent, 'POST', '/knowledge', { items });
  assert.deepEqual(
    [opsOf(first), opsOf(second)],
    [
      ['created', 'created'],
      ['unchanged', 'unchanged'],
    ],
  );
  assert.deepEqual([first.created, second.unchanged, second.created], [2, 2, 0]);
  assert.deepEqual(
    second.results,
    first.results.map((result) => ({ ...result, op: 'unchanged' })),
  );
  assert.ok(first.results.every(({ id, chunks, ok }) => ok && id.startsWith('kno_') && chunks > 0));
  const third = await agent.get<Batch>('POST', '/knowledge', { items: [article('returns', 'Within ten days.'), article('delivery')] });
  assert.deepEqual(opsOf(third), ['updated', 'unchanged']);
  assert.equal(third.results[0]?.id, first.results[0]?.id);
  const [gone] = await twice<Batch>(agent, 'POST', '/knowledge', { items: [{ external_key: 'returns', op: 'archive', reason: 'Old.' }] });
  assert.deepEqual([gone.archived, opsOf(gone)], [1, ['archived']]);
  const { facts } = await agent.get<{ facts: { knowledge: object } }>('GET', '/status');
  assert.deepEqual(facts.knowledge, { sources: 1, indexed: 1, pending: 0, indexing: 0, failed: 0, chunks: 1 });
});

test('SERVERACTION-1, SERVERACTION-10: POST /actions: created, updated, unchanged and archived by external_key; needs_key lists what waits for a key', async () => {
  const agent = await newAgent();
  const items = [httpAction('search'), httpAction('stock', { needs_key: { kind: 'header', name: 'X-Key' } })];
  const [first, second] = await twice<Batch>(agent, 'POST', '/actions', { items });
  assert.deepEqual(
    [opsOf(first), opsOf(second)],
    [
      ['created', 'created'],
      ['unchanged', 'unchanged'],
    ],
  );
  assert.deepEqual([first.needs_key, second.needs_key, first.failed], [['find_stock'], ['find_stock'], 0]);
  const reordered = Object.fromEntries(Object.entries(httpAction('search', { reason: 'Another one.' })).reverse());
  assert.deepEqual(opsOf(await agent.get<Batch>('POST', '/actions', { items: [reordered] })), ['unchanged']);
  const third = await agent.get<Batch>('POST', '/actions', { items: [httpAction('search', { result_limit: 3 }), items[1]] });
  assert.deepEqual(opsOf(third), ['updated', 'unchanged']);
  const [gone] = await twice<Batch>(agent, 'POST', '/actions', { items: [{ external_key: 'stock', op: 'archive' }] });
  assert.deepEqual([opsOf(gone), gone.needs_key], [['archived'], []]);
  const { facts } = await agent.get<{ facts: { httpActions: object } }>('GET', '/status');
  assert.deepEqual(facts.httpActions, { enabled: 1, needsKey: 0 });
});

interface Screens {
  readonly planned: number;
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly archived: number;
  readonly unknown: readonly string[];
}

test('SCREEN-1, SCREEN-2: POST /screens: added, updated, unchanged, archived and unknown; planned until a manifest names them', async () => {
  const app = await setup.app();
  const agent = await app.agent();
  const counts = ({ planned, added, updated, unchanged, archived, unknown }: Screens) => [
    planned,
    added,
    updated,
    unchanged,
    archived,
    unknown,
  ];
  const body = { screens: [screen('orders'), screen('cart')], archive: [{ name: 'nowhere' }] };
  const [first, second] = await twice<Screens>(agent, 'POST', '/screens', body);
  assert.deepEqual(counts(first), [2, 2, 0, 0, 0, ['nowhere']]);
  assert.deepEqual(counts(second), [2, 0, 0, 2, 0, ['nowhere']]);
  const third = await agent.get<Screens>('POST', '/screens', { screens: [screen('cart', 'Basket')] });
  assert.deepEqual(counts(third), [2, 0, 1, 0, 0, []]);
  const missing = async () => (await agent.get<{ screens_missing: number }>('GET', '/status')).screens_missing;
  assert.equal(await missing(), 2);
  await app.callIn('orders');
  assert.equal(await missing(), 1);
  const [gone] = await twice<Screens>(agent, 'POST', '/screens', { archive: [{ name: 'cart', reason: 'Removed.' }] });
  assert.deepEqual(counts(gone), [0, 0, 0, 0, 1, []]);
  assert.equal(await missing(), 0);
});

test('APPEARANCE-9: a setup token writes drafts and never publishes', async () => {
  const app = await setup.app({ publish_on_go_live: false });
  const agent = await app.agent();
  await agent.get('PUT', '/appearance', { theme: THEME });
  await agent.get('PUT', '/experience', { assistantName: 'Leaf' });
  await agent.get('POST', '/complete', { summary: 'Done.' });
  await app.console('POST', '/go-live');
  const served = async (key: string) => {
    const answer = await fetch(`${setup.service.baseUrl}/v1/apps/config`, { headers: { 'X-Service-Key': key } });
    return (await answer.json()) as { channel: string; version: number | null; config: { copilot?: unknown } };
  };
  const { channel, version, config } = await served(app.keys.live);
  assert.deepEqual([channel, version, config], ['published', null, {}]);
  const draft = await served(app.keys.test);
  assert.deepEqual([draft.channel, draft.config.copilot], ['draft', { assistantName: 'Leaf' }]);
});

test('APPEARANCE-10: a reason that is sent anew is kept also where nothing else changed; one that is left out takes nothing back', async () => {
  const app = await setup.app();
  const agent = await app.agent();
  const send = async (reason: string | undefined) => {
    const more = reason === undefined ? {} : { reason };
    await agent.get('POST', '/knowledge', { items: [{ ...article('returns'), ...more }] });
    await agent.get('POST', '/actions', { items: [httpAction('search', more)] });
    await agent.get('PUT', '/experience', { assistantName: 'Leaf', ...more });
    const { config } = await agent.get<{ config: Record<string, { items: { reason: string }[] } & { persona: { reason: string } }> }>(
      'GET',
      '/context',
    );
    return [config.knowledge?.items[0]?.reason, config.actions?.items[0]?.reason, config.experience?.persona.reason];
  };
  assert.deepEqual(await send('a guess'), ['a guess', 'a guess', 'a guess']);
  assert.deepEqual(await send('docs/a.md'), ['docs/a.md', 'docs/a.md', 'docs/a.md']);
  assert.deepEqual(await send(undefined), ['docs/a.md', 'docs/a.md', 'docs/a.md']);
});
