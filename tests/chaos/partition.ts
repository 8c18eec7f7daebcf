/** A node in a network namespace of its own, whose way to Redis is cut and mended while its clients still reach it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { talk } from '../support/chaos-load.ts';
import { eventually } from '../support/eventually.ts';
import { completedEnd } from '../support/history.ts';
import { assertClean, assertWithin, begin, figures, outcomes, type RedisGround } from './figures.ts';
import { lastFailureMs, WORKS_WITHIN_MS, worksAgain } from './redis-lost.ts';

export interface PartitionSize {
  readonly cuts: number;
  readonly cutMs: readonly [number, number];
  readonly mendedMs: readonly [number, number];
  readonly devices: number;
}

const RECOVERED_WITHIN_MS = 5_000;

function ip(...words: string[]): void {
  const { status, stderr } = spawnSync('ip', words, { encoding: 'utf8' });
  assert.equal(status, 0, `ip ${words.join(' ')}: ${stderr}`);
}

/** Why namespaces cannot be had here; false when they can. */
export function namespacesMissing(): string | false {
  if (process.platform !== 'linux') return 'network namespaces are of Linux';
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const probe = `probe${process.pid}`;
  const { status, error } = spawnSync('ip', ['netns', 'add', probe], { stdio: 'ignore' });
  if (error !== undefined) return 'ip is missing: apt-get install iproute2';
  if (status !== 0) return 'this machine does not let anybody make network namespaces';
  spawnSync('ip', ['netns', 'del', probe], { stdio: 'ignore' });
  return false;
}

interface Namespace {
  /** What a program is started through to be in it. */
  readonly through: readonly string[];
  /** This machine's address as seen from inside: for clients and the model, and for Redis. */
  readonly here: string;
  readonly redisHere: string;
  /** Where clients reach what is inside. */
  readonly inside: string;
  cut(): void;
  mend(): void;
}

/** Two cables: one for everybody, one for Redis alone. */
function createNamespace(t: TestContext): Namespace {
  const name = `chaos${process.pid}`;
  const net = process.pid % 250;
  t.after(() => {
    spawnSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
    // The ends out here outlive the namespace for as long as a process of it does.
    for (const cable of ['c', 'r']) spawnSync('ip', ['link', 'del', `${cable}h${process.pid}`], { stdio: 'ignore' });
  });
  ip('netns', 'add', name);
  const lay = (cable: string, network: string) => {
    const [out, inner] = [`${cable}h${process.pid}`, `${cable}n${process.pid}`];
    ip('link', 'add', out, 'type', 'veth', 'peer', 'name', inner);
    ip('link', 'set', inner, 'netns', name);
    ip('addr', 'add', `${network}.1/30`, 'dev', out);
    ip('link', 'set', out, 'up');
    ip('-n', name, 'addr', 'add', `${network}.2/30`, 'dev', inner);
    ip('-n', name, 'link', 'set', inner, 'up');
    return { out, here: `${network}.1`, inside: `${network}.2` };
  };
  ip('-n', name, 'link', 'set', 'lo', 'up');
  const clients = lay('c', `10.213.${net}`);
  const redis = lay('r', `10.214.${net}`);
  return {
    through: ['ip', 'netns', 'exec', name],
    here: clients.here,
    inside: clients.inside,
    redisHere: redis.here,
    cut: () => ip('link', 'set', redis.out, 'down'),
    mend: () => ip('link', 'set', redis.out, 'up'),
  };
}

/**
 * A node that cannot reach Redis is not a danger to the others, nor they to it. Redis and the model have to listen on all
 * addresses.
 */
export async function cutFromRedis(ground: RedisGround, { cuts, cutMs, mendedMs, devices }: PartitionSize): Promise<void> {
  const { t, cluster, model, redis } = ground;
  const namespace = createNamespace(t);
  const node = await cluster.add({
    name: 'behind-a-wall',
    through: namespace.through,
    env: { ...model.env(namespace.here), HOST: namespace.inside, REDIS_URL: `redis://${namespace.redisHere}:${redis.port}` },
  });
  const run = await begin(ground);
  model.pace({ words: 6, delayMs: 20 });
  let goesOn = true;
  const talks = Array.from({ length: devices }, () => talk(run, { copies: 2, turnsPerConversation: 6, more: () => goesOn }));
  for (let n = 0; n < cuts; n++) {
    await pause(run.dice.between(...mendedMs));
    namespace.cut();
    await pause(run.dice.between(...cutMs));
    namespace.mend();
  }
  const mendedAtMs = performance.now();
  if (run.timed) await pause(RECOVERED_WITHIN_MS + 1_000);
  await eventually(
    () => worksAgain(run, mendedAtMs),
    WORKS_WITHIN_MS,
    () => outcomes(run.history),
  );
  goesOn = false;
  await Promise.all(talks);
  await assertClean(run);
  const inside = run.history.attempts.filter((attempt) => attempt.node === node.name && completedEnd(attempt) !== undefined);
  assert.ok(inside.length > 0, 'the node behind the wall answers');
  figures(
    run,
    'f',
    `${cuts} cuts, ${run.history.turns.size} turn ids, ${inside.length} answers of the node behind it; ${outcomes(run.history)}`,
  );
  assertWithin(run, lastFailureMs(run, mendedAtMs), RECOVERED_WITHIN_MS, 'everything works soon after it is mended for good, in ms');
  await node.kill('SIGTERM');
}
