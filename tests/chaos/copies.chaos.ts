/** Copies of turns on random nodes, with and without kills. THOROUGH=1 for the sizes that are promised. */
import { test } from 'node:test';
import { scaled } from '../support/scale.ts';
import { everyCopyTheSame, nothingTwiceUnderKills } from './copies.ts';
import { prepareGround } from './ground.ts';
import { writesUnderKills } from './writes.ts';

const TURNS = scaled(10_000, 500);
const COPIES = 5;
const KILL_EVERY_MS = 2_000;
const KILLS = scaled(150, 15);
/** As many more as the time of the kills has room for. */
const TURNS_UNDER_KILLS = scaled(1_000, 100);
const WRITES = scaled(1_000, 100);

test(`CLUSTER-3: ${TURNS} turn ids, ${COPIES} copies of each to random nodes: one message, one charge, one answer each`, async (t) => {
  const ground = await prepareGround(t);
  await everyCopyTheSame(ground, { turns: TURNS, copies: COPIES, devices: 16 });
});

test(`CLUSTER-3: the same with a SIGKILL of a random node every ${KILL_EVERY_MS} ms, ${KILLS} times: nothing twice, nothing lost`, async (t) => {
  const ground = await prepareGround(t);
  await nothingTwiceUnderKills(ground, { turns: TURNS_UNDER_KILLS, copies: COPIES, devices: 8, kills: KILLS, everyMs: KILL_EVERY_MS });
});

test(`CLUSTER-3: ${WRITES} confirmed writes while nodes are killed: none is sent twice`, async (t) => {
  const ground = await prepareGround(t);
  await writesUnderKills(ground, { writes: WRITES, devices: 8, kills: scaled(60, 8), everyMs: KILL_EVERY_MS });
});
