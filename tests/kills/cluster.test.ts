/** Four real programs, a real Redis, kills from outside. The long runs are `npm run test:chaos`. */
import { test } from 'node:test';
import { answerAtExpiry } from '../chaos/cards.ts';
import { everyCopyTheSame, nothingTwiceUnderKills } from '../chaos/copies.ts';
import { prepareGround } from '../chaos/ground.ts';
import { forwardedDeltas, handOver } from '../chaos/latency.ts';
import { ownerKilled, ownerPaused } from '../chaos/owner-lost.ts';
import { cutFromRedis, namespacesMissing } from '../chaos/partition.ts';
import { redisKilled, redisStopped } from '../chaos/redis-lost.ts';
import { rollingRestart } from '../chaos/rolling.ts';
import { stopAtSilentOwner } from '../chaos/stops.ts';
import { writesUnderKills } from '../chaos/writes.ts';
import { redisMissing } from '../support/redis.ts';

/** Limits of time are of the long runs: these share the machine with other tests. */
const BRIEF = { nodes: 4, timed: false };
const BRIEF_OUTAGE = { staying: 2, roaming: 2 };
const ONE_KILL = { kills: 1, everyMs: 500 };

test('CLUSTER-3, CLUSTER-4, CLUSTER-5, CLUSTER-6, CLUSTER-7, CLUSTER-16: a cell of four nodes', { skip: redisMissing() }, async (t) => {
  const ground = await prepareGround(t, BRIEF);
  const scenario = (
    title: string,
    run: (ground: Awaited<ReturnType<typeof prepareGround>>) => Promise<unknown>,
    skip: string | false = false,
  ) => t.test(title, { skip }, async (inner) => void (await run({ ...ground, t: inner })));
  await scenario('every copy of a turn is the same turn, whichever node it reaches', (it) =>
    everyCopyTheSame(it, { turns: 16, copies: 5, devices: 4 }),
  );
  await scenario('an idle conversation is handed over', (it) => handOver(it, 2));
  await scenario('a turn is read live on any node', (it) => forwardedDeltas(it, 1, 40));
  await scenario('a turn whose owner is killed is answered elsewhere', (it) => ownerKilled(it, 1));
  await scenario('an owner that slept writes and acknowledges nothing when it wakes', (it) => ownerPaused(it, 1));
  await scenario('a stop ends a turn whose owner sleeps', (it) => stopAtSilentOwner(it));
  await scenario('kills lose nothing and repeat nothing, no write either', (it) =>
    Promise.all([
      nothingTwiceUnderKills(it, { turns: 12, copies: 3, devices: 4, ...ONE_KILL }),
      writesUnderKills(it, { writes: 4, devices: 2, ...ONE_KILL }),
    ]),
  );
  await scenario('Redis may lose everything', (it) => redisKilled(it, { ...BRIEF_OUTAGE, outageMs: 500 }));
  await scenario('Redis may stop answering', (it) => redisStopped(it, { ...BRIEF_OUTAGE, outageMs: 2_000 }));
  const cut = { cuts: 1, cutMs: [1_500, 2_000], mendedMs: [200, 400], devices: 2 } as const;
  await scenario('a node may be cut off from Redis', (it) => cutFromRedis(it, cut), namespacesMissing());
  const few = { streams: 4, pace: { words: 10, delayMs: 50 }, restarts: 2 };
  await scenario('a rolling restart loses no turn', (it) => rollingRestart(it, few));
  await scenario('a card has one terminal answer over all nodes', (it) => answerAtExpiry(it, { cards: 1, callers: 16 }));
});
