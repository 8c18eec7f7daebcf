/** What GET /metrics tells of turns, rounds of the model and their cost. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { request } from 'undici';
import { createClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { readMetrics } from '../../support/process.ts';
import { projectRoot } from '../../support/project-root.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';
import { startService } from '../../support/service.ts';
import { startUpstream, upstreamEnv } from '../../support/upstream.ts';

const CACHED = 64;

test('RUN-11, RUN-43: turns, rounds, tokens, cost and refusals are counted, those that fail as well, and what people ask makes no series', async (t) => {
  const upstream = await startUpstream(t, (_, n) => (n === 1 ? [{ status: 400 }] : [{ text: 'An answer.' }, { cached: CACHED }]));
  const service = await startService(t, { env: upstreamEnv(upstream) });
  const { say } = createClient(service.baseUrl, service.liveKey);
  for (const text of ['Hello', 'Hello again', 'And again']) await say(text);
  await createClient(service.baseUrl, service.testKey).say('A try');
  const metrics = await readMetrics(service.baseUrl);
  assert.equal(metrics.get('assistant_turns_total{outcome="completed",channel="live"}'), 2);
  assert.equal(metrics.get('assistant_turns_total{outcome="error",channel="live"}'), 1);
  const turns = [...metrics].filter(([name]) => name.startsWith('assistant_turns_total{'));
  assert.equal(turns.length, 10, 'each outcome on both channels, from the start on');
  assert.equal(new Map(turns).get('assistant_turns_total{outcome="completed",channel="sandbox"}'), 1);
  assert.equal(metrics.get('assistant_turn_seconds_count{channel="live"}'), 3);
  assert.equal(metrics.get('assistant_turn_first_words_seconds_count{channel="live"}'), 2);
  assert.equal(metrics.get('assistant_model_round_seconds_count{model="scripted",outcome="stop"}'), 3);
  assert.equal(metrics.get('assistant_model_round_seconds_count{model="scripted",outcome="refused"}'), 1);
  assert.equal(metrics.get('assistant_model_first_words_seconds_count{model="scripted"}'), 3);
  assert.equal(metrics.get('assistant_model_tokens_total{model="scripted",direction="cached"}'), 3 * CACHED);
  assert.equal(metrics.get('assistant_retrieval_seconds_count{step="search"}'), 4);
  assert.ok((metrics.get('assistant_model_tokens_total{model="scripted",direction="in"}') ?? 0) > 0);
  assert.ok((metrics.get('assistant_cost_usd_total{channel="live"}') ?? 0) > 0);
  await say('With what nobody sent', { attachments: [{ upload_id: 'upl_0' }] });
  assert.equal((await readMetrics(service.baseUrl)).get('gateway_refusals_total{code="invalid_request"}'), 1, 'in a stream as well');
  const names = (all: ReadonlyMap<string, number>) => [...all.keys()].filter((name) => /^assistant_(?:turn|model|cost)/.test(name)).sort();
  for (const text of ['Once more', 'And more']) await say(text);
  assert.deepEqual(names(await readMetrics(service.baseUrl)), names(metrics));
});

const OURS = /^(?:assistant|gateway|storage)_/;

const namesIn = (text: string) => Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name = '']) => name);

/** What the guide's table should say of each metric: its name with the labels of its series, where there are any yet. */
function described(text: string): Map<string, string | undefined> {
  const labelsOf = (name: string) => {
    const series = new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? \\S+$`, 'm').exec(text);
    const labels = Array.from((series?.[1] ?? '').matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g), ([, label = '']) => label);
    return series === null
      ? undefined
      : labels
          .filter((label) => label !== 'le')
          .sort()
          .join();
  };
  return new Map(namesIn(text).flatMap((name) => (OURS.test(name) ? [[name, labelsOf(name)]] : [])));
}

test('RUN-43: each metric is in the guide with its labels, and the guide has no other', async (t) => {
  const upstream = await startUpstream(t, () => [{ text: 'An answer.' }]);
  const service = await startService(t, { env: upstreamEnv(upstream) });
  await createClient(service.baseUrl, service.liveKey).say('What does shipping cost?');
  const shown = described(await (await fetch(`${service.baseUrl}/metrics`)).text());
  const rows = readFileSync(join(projectRoot(), 'docs/operations.md'), 'utf8').matchAll(/^\| (`(?:assistant|gateway|storage)_[^|]*) \|/gm);
  const entries = Array.from(rows, ([, cell = '']) => Array.from(cell.matchAll(/`(\w+)(?:\{([\w,]+)\})?`/g))).flat();
  const told = new Map(entries.map(([, name = '', labels = '']) => [name, labels.split(',').sort().join()]));
  assert.ok(shown.size > 30);
  for (const [name, labels] of shown)
    assert.ok(told.has(name) && (labels ?? told.get(name)) === told.get(name), `${name}{${labels}}: ${told.get(name)}`);
  // These are there with REPLICA_URL.
  assert.deepEqual(
    [...told.keys()].filter((name) => !shown.has(name) && !name.startsWith('assistant_replica_')),
    [],
  );
});

test('RUN-44: alerts and the dashboard ask for metrics that there are, and each alert has its page', async (t) => {
  const read = (path: string) => readFileSync(join(projectRoot(), path), 'utf8');
  const alerts = read('deploy/prometheus/alerts.yaml');
  const service = await startService(t);
  const shown = await (await fetch(`${service.baseUrl}/metrics`)).text();
  const there = new Set(namesIn(shown));
  const asked = `${alerts}${read('deploy/grafana/assistant-service.json')}`.matchAll(/(?<!\|)\b(?:assistant|gateway|storage)_[a-z0-9_]+/g);
  const names = new Set(Array.from(asked, ([name]) => name.replace(/_(?:bucket|count|sum)$/, '')));
  assert.ok(names.size > 10);
  // These are there with REPLICA_URL.
  const missing = [...names].filter((name) => !there.has(name) && !name.startsWith('assistant_replica_'));
  assert.deepEqual(missing, []);
  const pages = read('docs/operations.md');
  const rules = Array.from(alerts.matchAll(/- alert: (\w+)/g), ([, name = '']) => name);
  assert.equal(rules.length, 11);
  for (const name of rules) {
    assert.ok(pages.includes(`\n#### ${name}\n`), name);
    assert.ok(alerts.includes(`runbook: "docs/operations.md#${name.toLowerCase()}"`), name);
  }
});

test('RUN-45: with WORKERS one scrape is the sum of all, whichever worker answers', { skip: redisMissing() }, async (t) => {
  const redis = await startRedis(t);
  const service = await startService(t, { env: { WORKERS: '2', REDIS_URL: redis.url, DEMO: 'on' } });
  await eventually(() => service.output().stderr.includes('all workers were started'));
  const { say } = createClient(service.baseUrl, service.liveKey);
  const TURNS = 6;
  await Promise.all(Array.from({ length: TURNS }, (_, n) => say(`Question ${n}`)));
  for (let n = 0; n < TURNS; n++) {
    const answer = await request(`${service.baseUrl}/metrics`, { headers: { connection: 'close' }, reset: true });
    const text = await answer.body.text();
    assert.match(text, /^assistant_processes 2$/m);
    assert.match(text, /^assistant_turns_total\{outcome="completed",channel="live"\} 6$/m);
    assert.match(text, /^assistant_turn_seconds_bucket\{.*le="\+Inf".*\} 6$/m);
    assert.match(text, /^gateway_request_seconds_bucket\{le="\+Inf",route="POST \/v1\/chat"\} 6$/m);
    assert.match(text, /^gateway_refusals_total\{code="internal"\} 0$/m);
    assert.match(text, /^# TYPE assistant_loop_late_max_seconds gauge$/m);
  }
});
