/** Redis is killed and comes back empty, or answers nothing for a while, under load. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { newDevice, talk } from '../support/chaos-load.ts';
import { eventually } from '../support/eventually.ts';
import { type Attempt, completedEnd } from '../support/history.ts';
import { assertClean, assertWithin, begin, figures, outcomes, quantile, type RedisGround, type Run, spread } from './figures.ts';

export interface OutageSize {
  readonly outageMs: number;
  /** Devices that stay with one node. */
  readonly staying: number;
  /** Devices that send each turn to any two nodes. */
  readonly roaming: number;
}

/** A node that cannot ask another says so. */
const REFUSED_WITHIN_MS = 1_000;
const RECOVERED_WITHIN_MS = 5_000;
/** Long enough to see that nothing is refused any more. */
const AFTER_MS = RECOVERED_WITHIN_MS + 1_500;
const TURNS_PER_CONVERSATION = 6;
/** Everything works when this many requests in a row were answered, which takes so long at most, however slow the machine is. */
const ANSWERED_IN_A_ROW = 8;
export const WORKS_WITHIN_MS = 60_000;

interface Outage {
  readonly lostAtMs: number;
  readonly backAtMs: number;
  /** Requests of devices that stayed with a node. */
  readonly stayed: readonly Attempt[];
  readonly roamed: readonly Attempt[];
}

const firstEventAfterMs = ({ seen, sentAtMs }: Attempt) => (seen[0]?.atMs ?? Number.POSITIVE_INFINITY) - sentAtMs;
const isWithin = ({ sentAtMs }: Attempt, fromMs: number, untilMs: number) => sentAtMs >= fromMs && sentAtMs < untilMs;
/** It was told to try again, and nothing else. */
const wasRefused = (attempt: Attempt) =>
  attempt.closing === 'ended' && completedEnd(attempt) === undefined && !attempt.seen.some(({ event }) => event.type === 'turn.start');

/** The latest requests since then were answered. */
export function worksAgain({ history }: Run, sinceMs: number): boolean {
  const latest = history.attempts.filter(({ closing, sentAtMs }) => closing !== 'open' && sentAtMs > sinceMs).slice(-ANSWERED_IN_A_ROW);
  return latest.length === ANSWERED_IN_A_ROW && latest.every((attempt) => completedEnd(attempt) !== undefined);
}

/** How long after `sinceMs` the last request was sent that was not answered; 0: all later ones were. */
export function lastFailureMs({ history }: Run, sinceMs: number): number {
  const failed = history.attempts.filter((attempt) => attempt.sentAtMs > sinceMs && completedEnd(attempt) === undefined);
  return Math.max(0, ...failed.map(({ sentAtMs }) => sentAtMs - sinceMs));
}

async function outage(run: Run, { outageMs, staying, roaming }: OutageSize, lose: () => unknown, restore: () => unknown): Promise<Outage> {
  const { cluster, history } = run;
  run.model.pace({ words: 6, delayMs: 20 });
  let goesOn = true;
  const talking = { turnsPerConversation: TURNS_PER_CONVERSATION, more: () => goesOn };
  const stayers = new Set(Array.from({ length: staying }, newDevice));
  const talks = [...stayers].map((deviceId, n) => {
    const node = cluster.up()[n % cluster.up().length];
    assert.ok(node !== undefined);
    return talk({ ...run, route: () => node }, { ...talking, deviceId });
  });
  for (let n = 0; n < roaming; n++) talks.push(talk(run, { ...talking, copies: 2 }));
  const works = (sinceMs: number) =>
    eventually(
      () => worksAgain(run, sinceMs),
      WORKS_WITHIN_MS,
      () => outcomes(history),
    );
  await works(0);
  const lostAtMs = performance.now();
  await lose();
  await pause(outageMs);
  await restore();
  const backAtMs = performance.now();
  if (run.timed) await pause(AFTER_MS);
  await works(backAtMs);
  goesOn = false;
  await Promise.all(talks);
  const stays = ({ turnId }: Attempt) => stayers.has(history.turns.get(turnId)?.deviceId ?? '');
  return { lostAtMs, backAtMs, stayed: history.attempts.filter(stays), roamed: history.attempts.filter((attempt) => !stays(attempt)) };
}

/** Tells the figures, and holds against them what has to be. */
function judge(run: Run, scenario: string, what: string, { lostAtMs, backAtMs, stayed, roamed }: Outage): void {
  const meanwhile = stayed.filter((attempt) => isWithin(attempt, lostAtMs, backAtMs));
  const roaming = roamed.filter((attempt) => isWithin(attempt, lostAtMs, backAtMs));
  const refusedAfterMs = roaming.filter(wasRefused).map(({ closedAtMs, sentAtMs }) => closedAtMs - sentAtMs);
  const lastRefusedAtMs = Math.max(backAtMs, ...roamed.filter(wasRefused).map(({ closedAtMs }) => closedAtMs));
  const line = [
    `${meanwhile.length} requests stayed with their node, first event after ${spread(meanwhile.map(firstEventAfterMs))}`,
    `${refusedAfterMs.length} of ${roaming.length} roaming ones refused after ${spread(refusedAfterMs)}`,
    `last refusal ${(lastRefusedAtMs - backAtMs).toFixed(0)} ms after it was back`,
  ];
  figures(run, scenario, [what, ...line, outcomes(run.history)].join('; '));
  const unanswered = (attempts: readonly Attempt[]) => attempts.filter((attempt) => completedEnd(attempt) === undefined);
  assert.ok(meanwhile.length > 0);
  assert.deepEqual(unanswered(meanwhile), [], 'requests for actors on the node that they reach go on');
  const silent = run.history.attempts.filter(({ closing }) => closing === 'silent');
  assert.deepEqual(silent, [], 'nobody is left without an answer');
  if (refusedAfterMs.length > 0) assertWithin(run, quantile(refusedAfterMs, 0.99), REFUSED_WITHIN_MS, 'p99 of refusals, in ms');
  assertWithin(run, lastFailureMs(run, backAtMs), RECOVERED_WITHIN_MS, 'everything works soon after Redis is back, in ms');
}

/** Redis may lose everything that it holds. */
export async function redisKilled(ground: RedisGround, size: OutageSize): Promise<void> {
  const run = await begin(ground);
  const { redis } = ground;
  const seen = await outage(
    run,
    size,
    () => redis.kill(),
    () => redis.restart(),
  );
  await assertClean(run);
  judge(run, 'e (killed)', `Redis gone for ${size.outageMs} ms`, seen);
}

/** Redis may answer nothing, with its connections open. */
export async function redisStopped(ground: RedisGround, size: OutageSize): Promise<void> {
  const run = await begin(ground);
  const { redis } = ground;
  const seen = await outage(
    run,
    size,
    () => redis.pause(),
    () => redis.resume(),
  );
  await assertClean(run);
  judge(run, 'e (stopped)', `Redis stopped for ${size.outageMs} ms`, seen);
}
