import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actor, node, refusal, START, serveCluster } from './cluster-fixture.ts';

interface Listing {
  readonly actors: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
  readonly unreachable: readonly string[];
}

const ONE = 'one~0123abcd';
const TWO = 'two~0123abcd';

test('CONSOLE-23: GET /actors shows each live actor with its node, state and turn', async (t) => {
  const busy = actor('cnv_1', { node: TWO, state: 'answering', turnId: 'turn-1', waiting: 2, sinceMs: START + 5 });
  const { console } = await serveCluster(t, { nodes: [node('one'), node('two')], actors: [busy] });
  const { status, json } = await console('GET', '/actors');
  assert.equal(status, 200);
  const about = { kind: 'conversation', id: 'cnv_1', node: TWO, org_id: 'org_1', app_id: 'app_1' };
  const since = new Date(START + 5).toISOString();
  assert.deepEqual(json, {
    actors: [{ ...about, state: 'answering', turn_id: 'turn-1', waiting: 2, since }],
    total: 1,
    unreachable: [],
  });
});

test('CONSOLE-23: GET /actors filters by node and kind, longest in its state first, and counts what the limit left out', async (t) => {
  const actors = [
    actor('cnv_new', { sinceMs: START + 30 }),
    actor('cnv_old', { sinceMs: START + 10 }),
    actor('ses_1', { kind: 'setup_session', sinceMs: START + 20 }),
    actor('cnv_two', { node: TWO, sinceMs: START }),
  ];
  const lost = 'three~0123abcd';
  const { console } = await serveCluster(t, { nodes: [node('one'), node('two')], actors, unreachable: [lost] });
  const found = async (query: string) => {
    const answer = await console('GET', `/actors${query}`);
    assert.equal(answer.status, 200, answer.text);
    const { actors: listed, total, unreachable } = answer.json as Listing;
    return [listed.map(({ id }) => id).join(' '), total, unreachable.length] as const;
  };
  assert.deepEqual(await found(''), ['cnv_two cnv_old ses_1 cnv_new', 4, 1]);
  assert.deepEqual(await found('?limit=2'), ['cnv_two cnv_old', 4, 1]);
  assert.deepEqual(await found('?kind=setup_session'), ['ses_1', 1, 1]);
  assert.deepEqual(await found(`?node=${ONE}&kind=conversation`), ['cnv_old cnv_new', 2, 0]);
  assert.deepEqual(await found(`?node=${encodeURIComponent(lost)}`), ['', 0, 1]);
});

test('CONSOLE-23: GET /actors shows 200 unless asked for up to 1,000', async (t) => {
  const actors = Array.from({ length: 1_200 }, (_, index) => actor(`cnv_${index}`, { sinceMs: START + index }));
  const { console } = await serveCluster(t, { actors });
  const shown = async (query: string) => ((await console('GET', `/actors${query}`)).json as Listing).actors.length;
  assert.deepEqual([await shown(''), await shown('?limit=1000')], [200, 1_000]);
});

test('CONSOLE-7: GET /actors refuses a bad limit or kind with 400 and an unknown node with 404, naming it', async (t) => {
  const { console } = await serveCluster(t, {});
  for (const [query, status, message] of [
    ['?limit=0', 400, /limit/],
    ['?limit=1001', 400, /limit/],
    ['?kind=robot', 400, /kind.*conversation.*setup_session/],
    ['?node=nobody', 404, /nobody/],
  ] as const) {
    const answer = refusal(await console('GET', `/actors${query}`));
    assert.equal(answer.status, status, query);
    assert.match(answer.message, message);
  }
});
