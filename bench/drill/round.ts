/**
 * One loss of a host, from the first request to what is left: a cell under load is replicated, its host is lost at a moment that is drawn, another
 * host takes the cell over while the first comes back, and what the people were promised is compared with what is there.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createTestApp, type TestApp } from '../../tests/support/client.ts';
import type { Dice } from '../../tests/support/seeded.ts';
import { Host, OPERATOR_TOKEN } from './host.ts';
import { judge, rowCounts } from './judge.ts';
import { People } from './people.ts';
import { ACTION, openSite, type Site } from './site.ts';
import { Witness } from './witness.ts';

const CELL = 'eu-1';
const OTHER_CELL = 'eu-2';
/** They think for no time, so that eight are plenty for two cores that run everything. */
const PEOPLE = 8;
/** The host is lost somewhere between, counted from when all that was there before is replicated. */
const LIFE_MS = [3_000, 15_000] as const;
/** How long the people go on at the new host before it is judged. */
const AFTER_MS = 3_000;
/** What lies there before is replicated when the furthest behind is at most so far. */
const CAUGHT_UP_S = 3;
const CATCH_UP_MAX_MS = 600_000;
const LOOK_MS = 250;
const FIRST_TURN_MAX_MS = 120_000;
/** Made at once: each is two requests. */
const MAKERS = 8;

interface RoundPlan {
  /** Organisations with an app that are there before the people come. */
  readonly organisations: number;
  readonly s3: boolean;
  readonly dice: Dice;
}

export type Round = Awaited<ReturnType<typeof lose>>;

interface Scene {
  readonly site: Site;
  readonly old: Host;
  readonly other: Host;
  readonly fresh: Host;
  readonly address: string;
  readonly app: TestApp;
  readonly witness: Witness;
}

interface Hosts extends Omit<Scene, 'app' | 'witness'> {}

async function makeHosts(site: Site): Promise<Hosts> {
  const address = site.address('first');
  const old = await Host.make({ site, name: 'old', cell: CELL, replica: address });
  const other = await Host.make({ site, name: 'other', cell: OTHER_CELL, replica: undefined });
  const fresh = await Host.make({ site, name: 'new', cell: CELL, replica: site.address('second') });
  return { site, old, other, fresh, address };
}

async function setTheScene(hosts: Hosts, organisations: number): Promise<Scene> {
  const { site, old, other } = hosts;
  await old.start();
  await other.start();
  const app = await createTestApp(old.baseUrl, OPERATOR_TOKEN, { record_confirmations: true });
  const action = {
    external_key: 'do',
    name: ACTION,
    description: 'Does it.',
    method: 'POST',
    risk: 'write',
    confirm_template: 'Do it?',
    url_template: `${site.backendUrl}/do`,
    auth: 'user',
  };
  await old.operator('POST', `/apps/${app.appId}/actions`, { items: [action] });
  let left = organisations;
  const make = async () => {
    while (left-- > 0) {
      const { org } = await old.operator<{ org: { id: string } }>('POST', '/orgs', { name: `Organisation ${left}` });
      await old.operator('POST', `/orgs/${org.id}/apps`, { name: 'An app' });
    }
  };
  await Promise.all(Array.from({ length: MAKERS }, make));
  return { ...hosts, app, witness: await Witness.of(old.baseUrl, app) };
}

async function until(what: string, maxMs: number, holds: () => Promise<boolean> | boolean): Promise<void> {
  const endMs = performance.now() + maxMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${maxMs} ms`);
    await pause(LOOK_MS);
  }
}

function replicated({ old, site }: Scene): Promise<void> {
  const databases = readdirSync(join(old.dataDir, 'organisations')).filter((name) => name.endsWith('.sqlite'));
  return until('the replica', CATCH_UP_MAX_MS, async () => {
    const arrived = readdirSync(site.folder('first'), { recursive: true }).map(String);
    const isThere = databases.every((name) =>
      arrived.some((path) => path.startsWith(`organisations/${name}/`) && path.includes('.snapshot.lz4')),
    );
    return isThere && (await old.metric('assistant_replica_lag_max_seconds')) <= CAUGHT_UP_S;
  });
}

/** Starts the old host again and returns what it did that a fenced host must not, or did not and must. */
async function comesBack({ old, app, witness }: Scene, when: string): Promise<string[]> {
  const before = rowCounts(old.dataDir, app.organisationId);
  await old.start();
  const { status, conditions } = await old.readiness();
  const wrong = await witness.asks(old.baseUrl, false);
  await old.burn();
  const after = rowCounts(old.dataDir, app.organisationId);
  return [
    ...(status === 503 && conditions.includes('fenced') ? [] : [`is not fenced: ${status} ${conditions}`]),
    ...wrong,
    ...(after === before ? [] : [`wrote: ${before} became ${after}`]),
  ].map((what) => `the old host came back ${when}: ${what}`);
}

function bytesBelow(dir: string): number {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.sqlite(-wal)?$/.test(entry.name),
  );
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

async function lose(scene: Scene, dice: Dice) {
  const { site, old, other, fresh, address, app, witness } = scene;
  await replicated(scene);
  let home = old;
  const people = new People(app.liveKey);
  people.begin(PEOPLE, [() => home.baseUrl, () => other.baseUrl], () => home);
  const livedMs = dice.between(...LIFE_MS);
  await pause(livedMs);

  const burntAtMs = Date.now();
  await old.burn();
  const databaseBytes = bytesBelow(old.dataDir);
  let inBetween: Promise<string[]> = Promise.resolve(['the take-over did not say that the old host is fenced']);
  await fresh.takeOver(CELL, address, () => {
    inBetween = comesBack(scene, 'in the middle of the take-over');
  });
  const takenOverMs = Date.now() - burntAtMs;
  await fresh.start();
  const answersMs = Date.now() - burntAtMs;
  home = fresh;
  const first = () => [fresh, other].map(({ baseUrl }) => people.firstTurnAfter(burntAtMs + takenOverMs, baseUrl));
  const late = await until('the first turns on the new host', FIRST_TURN_MAX_MS, () => first().every((ms) => ms !== undefined)).then(
    () => [],
    (error: Error) => [error.message],
  );
  const [direct, viaOther] = first();
  const serving = [...(await witness.asks(fresh.baseUrl, true)), ...(await witness.asks(other.baseUrl, true))];
  const fencing = [...(await inBetween), ...(await comesBack(scene, 'after the take-over'))];
  await pause(AFTER_MS);
  await people.end();
  await fresh.stop();
  await other.stop();
  const { acknowledged } = people;
  const { calls } = site;
  const judgement = judge({ dataDir: fresh.dataDir, organisationId: app.organisationId, acknowledged, burntAtMs, calls });
  return {
    ...judgement,
    violations: [...judgement.violations, ...fencing, ...late, ...serving],
    ...{ databaseBytes, livedMs, takenOverMs, answersMs },
    firstTurnMs: direct === undefined ? undefined : direct + takenOverMs,
    firstTurnViaOtherMs: viaOther === undefined ? undefined : viaOther + takenOverMs,
  };
}

/** Plays a round with hosts, a Redis and destinations of its own. @throws Error when a host does not start or the take-over fails */
export async function playRound({ organisations, s3, dice }: RoundPlan): Promise<Round> {
  const site = await openSite({ s3 });
  const hosts = await makeHosts(site);
  try {
    return await lose(await setTheScene(hosts, organisations), dice);
  } finally {
    for (const host of [hosts.old, hosts.other, hosts.fresh]) await host.burn();
    await site.close();
  }
}
