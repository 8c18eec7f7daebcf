/** Alerts of deploy/ fire when what they are about happens, and no other does; Prometheus takes our metrics, rules and panels. */
import { readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createClient, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { readMetrics } from '../support/process.ts';
import { projectRoot } from '../support/project-root.ts';
import { ALERTS, promtool, promtoolMissing, requireFiring, type Series } from '../support/promtool.ts';
import { runCli } from '../support/run-cli.ts';
import { startService } from '../support/service.ts';
import { fill, smallDisk } from '../support/small-disk.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';

/** Alerts wait for more than twenty of what fails. */
const ENOUGH = 25;
const DAY_S = 86_400;

/** How fast the machine is that runs the tests. */
const OF_THE_MACHINE = /^assistant_(?:loop_|turn_first_words_|overload|starts_)/;

/** What a node says, but for that, with times as of now, which is Prometheus' zero in a scenario. */
async function scrape({ baseUrl }: { readonly baseUrl: string }): Promise<Series> {
  const said = [...(await readMetrics(baseUrl))].filter(([name]) => !OF_THE_MACHINE.test(name));
  return new Map(said.map(([name, value]) => [name, name.includes('_timestamp_seconds') ? value - Date.now() / 1e3 : value]));
}

async function isDegraded({ baseUrl }: { readonly baseUrl: string }, condition: string): Promise<boolean> {
  return (await (await fetch(`${baseUrl}/readyz`)).text()).includes(`"${condition}"`);
}

/** Those whose cause would take minutes, another host or many people, and what metrics show of it. */
const HARD_TO_CAUSE: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  AssistantFirstWordsSlow: {
    'assistant_turn_first_words_seconds_bucket{le="5",channel="live"}': 80,
    'assistant_turn_first_words_seconds_bucket{le="10",channel="live"}': 100,
    'assistant_turn_first_words_seconds_bucket{le="+Inf",channel="live"}': 100,
  },
  AssistantStoresNothing: { 'assistant_conditions{condition="disk_full"}': 1 },
  AssistantOverloaded: { assistant_overloaded: 1 },
  AssistantLoopLate: { assistant_loop_late_max_seconds: 0.8 },
  AssistantReplicaBehind: { assistant_replica_lag_max_seconds: 300 },
  AssistantParsersDie: { 'assistant_parser_deaths_total{how="memory"}': 12 },
};

describe('RUN-44: an alert fires when what it is about happens, and no other does', { skip: promtoolMissing() }, () => {
  test('while all is well, when the node is gone, and by the metrics of what is hard to cause', async (t) => {
    const service = await startService(t, { env: { DEMO: 'on' } });
    const before = await scrape(service);
    await createClient(service.baseUrl, service.liveKey).say('What does shipping cost?');
    const well = await scrape(service);
    requireFiring(t, before, well, []);
    requireFiring(t, well, new Map(), ['AssistantDown'], false);
    for (const [name, shown] of Object.entries(HARD_TO_CAUSE)) {
      const quiet = new Map([...well, ...Object.keys(shown).map((series) => [series, 0] as const)]);
      requireFiring(t, quiet, new Map([...quiet, ...Object.entries(shown)]), [name]);
    }
  });

  test('when the model refuses the key', async (t) => {
    const upstream = await startUpstream(t, () => [{ status: 401 }]);
    const service = await startService(t, { env: { ...upstreamEnv(upstream), DEMO: 'off' } });
    const { liveKey } = await createTestApp(service.baseUrl, service.operatorToken);
    const before = await scrape(service);
    const { say } = createClient(service.baseUrl, liveKey);
    for (let n = 0; n < ENOUGH; n++) await say('Hello');
    requireFiring(t, before, await scrape(service), ['AssistantDegraded', 'AssistantTurnsFail']);
  });

  test('when the file of an organisation is away', async (t) => {
    const service = await startService(t, { env: { DEMO: 'off' } });
    const { liveKey, organisationId } = await createTestApp(service.baseUrl, service.operatorToken);
    const before = await scrape(service);
    const { say } = createClient(service.baseUrl, liveKey);
    const file = join(service.dataDir, 'organisations', `${organisationId}.sqlite`);
    renameSync(file, `${file}.away`);
    await eventually(() => isDegraded(service, 'organisation_unavailable'));
    for (let n = 0; n < ENOUGH; n++) await say('Hello');
    requireFiring(t, before, await scrape(service), ['AssistantDegraded', 'AssistantRequestsFail']);
  });

  test('when the disk is full', async (t) => {
    const dataDir = smallDisk(t);
    if (dataDir === undefined) return t.skip('this user may not mount a disk');
    const service = await startService(t, { dataDir, env: { DEMO: 'off' } });
    const { liveKey } = await createTestApp(service.baseUrl, service.operatorToken);
    const { say } = createClient(service.baseUrl, liveKey);
    fill(dataDir);
    const isRefused = async () => /"code":"storage_unavailable"/.test((await say('Hello')).text);
    // A log that was checkpointed has room of its own for some turns.
    await eventually(isRefused);
    await eventually(() => isDegraded(service, 'disk_low'));
    const before = await scrape(service);
    for (let n = 0; n < ENOUGH; n++) await isRefused();
    requireFiring(t, before, await scrape(service), ['AssistantDegraded', 'AssistantRequestsFail', 'AssistantStoresNothing']);
  });

  test('when the last backup is days old, and no more once there is another', async (t) => {
    const service = await startService(t, { env: { DEMO: 'off' } });
    const folder = temporaryDir(t);
    const none = await scrape(service);
    await runCli(['backup', join(folder, 'first')], service.dataDir);
    const now = Date.now() / 1e3;
    utimesSync(join(service.dataDir, 'last-backup'), now, now - 3 * DAY_S);
    const old = await scrape(service);
    requireFiring(t, none, old, ['AssistantBackupOld']);
    await runCli(['backup', join(folder, 'second')], service.dataDir);
    requireFiring(t, old, await scrape(service), []);
  });
});

test('RUN-44: Prometheus takes the rules, the queries of the dashboard and what /metrics says', { skip: promtoolMissing() }, async (t) => {
  promtool(['check', 'rules', '--lint-fatal', ALERTS]);
  const dashboard = readFileSync(join(projectRoot(), 'deploy/grafana/assistant-service.json'), 'utf8');
  const queries = Array.from(dashboard.matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g), ([, text = '']) => JSON.parse(text) as string);
  const rules = queries.map((expr, n) => ({ record: `panel:${n}`, expr: expr.replaceAll('$__rate_interval', '5m') }));
  const file = join(temporaryDir(t), 'panels.json');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  promtool(['check', 'rules', file]);
  const service = await startService(t, { env: { DEMO: 'on' } });
  await createClient(service.baseUrl, service.liveKey).say('What does shipping cost?');
  promtool(['check', 'metrics'], await (await fetch(`${service.baseUrl}/metrics`)).text());
});
