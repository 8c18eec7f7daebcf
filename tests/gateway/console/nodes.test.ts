import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, refusal, START, serveCluster } from './cluster-fixture.ts';

test('CONSOLE-21: GET /nodes lists every node with its actors and drain state, and says which one answers', async (t) => {
  const one = node('one', { actors: 3 });
  const two = node('two', { pid: 4712, cell: 'eu', url: null, state: 'draining', startedAtMs: START + 1_000 });
  const { console } = await serveCluster(t, { nodes: [one, two], redis: 'connected' });
  const { status, json } = await console('GET', '/nodes');
  assert.equal(status, 200);
  const at = new Date(START).toISOString();
  const later = new Date(START + 1_000).toISOString();
  const url = 'http://127.0.0.1:8787';
  assert.deepEqual(json, {
    nodes: [
      { id: one.id, name: 'one', pid: 4711, cell: null, url, state: 'serving', started_at: at, actors: 3, self: true },
      { id: two.id, name: 'two', pid: 4712, cell: 'eu', url: null, state: 'draining', started_at: later, actors: 0, self: false },
    ],
    redis: 'connected',
    conditions: [],
    moves: [],
  });
});

test('CONSOLE-21: GET /nodes says when Redis is away, and null where there is none to be away', async (t) => {
  for (const redis of ['away', null] as const) {
    const { console } = await serveCluster(t, { redis });
    assert.equal(((await console('GET', '/nodes')).json as { redis: unknown }).redis, redis);
  }
});

test('CONSOLE-21: GET /nodes says what is wrong with the node that answers, and of which organisations', async (t) => {
  const since = new Date(START).toISOString();
  const conditions = [
    { name: 'redis_away', subject: '', detail: 'Redis does not answer.', sinceMs: START },
    { name: 'organisation_unavailable', subject: 'org_1', detail: 'Its file is gone.', sinceMs: START },
  ] as const;
  const { console } = await serveCluster(t, { redis: 'away', conditions });
  assert.deepEqual(((await console('GET', '/nodes')).json as { conditions: unknown }).conditions, [
    { condition: 'redis_away', since, detail: 'Redis does not answer.' },
    { condition: 'organisation_unavailable', since, count: 1, about: [{ id: 'org_1', since, detail: 'Its file is gone.' }] },
  ]);
});

test('CONSOLE-22: POST /nodes/:node/drain is 202 for a known node, itself included, and 404 naming any other', async (t) => {
  const { console, drained } = await serveCluster(t, { nodes: [node('one'), node('two')] });
  for (const id of ['one~0123abcd', 'two~0123abcd']) {
    const { status, json } = await console('POST', `/nodes/${encodeURIComponent(id)}/drain`);
    assert.deepEqual([status, json], [202, { draining: true }]);
  }
  const answer = refusal(await console('POST', '/nodes/one/drain'));
  assert.deepEqual([answer.status, answer.code], [404, 'not_found']);
  assert.match(answer.message, /no node one\b/);
  assert.deepEqual(drained, ['one~0123abcd', 'two~0123abcd', 'one']);
});
