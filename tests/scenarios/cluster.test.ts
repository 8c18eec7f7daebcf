/** Decisions §10, briefly: four real programs, a real Redis, kills from outside. The long runs are `npm run test:chaos`. */
import { test } from 'node:test';
import { answerAtExpiry, askCards } from '../chaos/cards.ts';
import { everyCopyTheSame, nothingTwiceUnderKills } from '../chaos/copies.ts';
import { prepareGround } from '../chaos/ground.ts';
import { forwardedDeltas, handOver } from '../chaos/latency.ts';
import { ownerKilled, ownerPaused } from '../chaos/owner-lost.ts';
import { cutFromRedis, namespacesMissing } from '../chaos/partition.ts';
import { redisKilled, redisStopped } from '../chaos/redis-lost.ts';
import { rollingRestart } from '../chaos/rolling.ts';
import { writesUnderKills } from '../chaos/writes.ts';
import { redisMissing } from '../support/redis.ts';

const BRIEF_OUTAGE = { staying: 4, roaming: 4 };

test('decisions §10: a cell of four nodes', { skip: redisMissing() }, async (t) => {
  const ground = await prepareGround(t);
  const scenario = (
    title: string,
    run: (ground: Awaited<ReturnType<typeof prepareGround>>) => Promise<void>,
    skip: string | false = false,
  ) => t.test(title, { skip }, (inner) => run({ ...ground, t: inner }));
  // Half a minute from now their time is up.
  const cards = await askCards(ground, 2);
  await scenario('every copy of a turn is the same turn, whichever node it reaches', (it) =>
    everyCopyTheSame(it, { turns: 60, copies: 5, devices: 6 }),
  );
  await scenario('an idle conversation is handed over', (it) => handOver(it, 5));
  await scenario('a turn is read live on any node', (it) => forwardedDeltas(it, 2, 60));
  await scenario('a turn whose owner is killed is answered elsewhere', (it) => ownerKilled(it, 2));
  await scenario('an owner that slept writes and acknowledges nothing when it wakes', (it) => ownerPaused(it, 2));
  await scenario('a card has one terminal answer over all nodes', () => answerAtExpiry(cards, 16));
  await scenario('kills lose nothing and repeat nothing', (it) =>
    nothingTwiceUnderKills(it, { turns: 60, copies: 3, devices: 6, kills: 4, everyMs: 1_000 }),
  );
  await scenario('kills repeat no write', (it) => writesUnderKills(it, { writes: 20, devices: 4, kills: 2, everyMs: 1_000 }));
  await scenario('Redis may lose everything', (it) => redisKilled(it, { ...BRIEF_OUTAGE, outageMs: 1_000 }));
  await scenario('Redis may stop answering', (it) => redisStopped(it, { ...BRIEF_OUTAGE, outageMs: 4_000 }));
  const cut = { cuts: 2, cutMs: [500, 2_500], mendedMs: [500, 1_000], devices: 4 } as const;
  await scenario('a node may be cut off from Redis', (it) => cutFromRedis(it, cut), namespacesMissing());
  await scenario('a rolling restart loses no turn', (it) => rollingRestart(it, { streams: 20, pace: { words: 10, delayMs: 50 } }));
});
