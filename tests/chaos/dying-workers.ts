/** WORKERS of the program itself, one of which is killed every two seconds while it serves: how many connections find nobody. */
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { createOperator } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { startRedis } from '../support/redis.ts';
import { createDice } from '../support/seeded.ts';
import { type RunningService, startService } from '../support/service.ts';

const WORKERS = 3;
/** On a machine that is busy with other tests a start takes longer than that: one that never gets to serve proves nothing. */
const KILL_EVERY_MS = 2_000;
const KILL_EVERY_STARTS = 1.5;
const CONNECT_EVERY_MS = 20;
/** A connection whose worker is killed before it answers is cut; one that waits longer than this has found nobody either. */
const ANSWER_WITHIN_MS = 3_000;
/** Three starts of the program, beside other tests. */
const STARTS_MS = 90_000;

export interface Findings {
  readonly kills: number;
  readonly connections: number;
  /** Nobody listened. */
  readonly refused: number;
  /** Accepted, and not answered: the worker died with it. */
  readonly cut: number;
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** The workers that listen, by process; none when nobody answers. */
async function serving({ baseUrl, operatorToken, pid }: RunningService): Promise<number[]> {
  const running = childrenOf(pid);
  const { json } = await createOperator(baseUrl, operatorToken)('GET', '/nodes').catch(() => ({ json: { nodes: [] } }));
  const { nodes } = json as { readonly nodes: readonly { readonly pid: number; readonly url: string | null }[] };
  return nodes.flatMap((node) => (node.url !== null && running.includes(node.pid) ? [node.pid] : []));
}

function started({ output }: RunningService): boolean {
  return output().stderr.includes('all workers were started');
}

async function connectFor(baseUrl: string, untilMs: number): Promise<Pick<Findings, 'connections' | 'refused' | 'cut'>> {
  const asked: Promise<'answered' | 'refused' | 'cut'>[] = [];
  const ask = async () => {
    // A connection of its own: one that is kept knows nothing of who listens now.
    const dispatcher = new Agent({ pipelining: 0, connectTimeout: ANSWER_WITHIN_MS });
    try {
      const { statusCode, body } = await request(`${baseUrl}/healthz`, { dispatcher, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
      await body.dump();
      return statusCode === 200 ? 'answered' : 'cut';
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'refused' : 'cut';
    } finally {
      void dispatcher.destroy();
    }
  };
  while (performance.now() < untilMs) {
    asked.push(ask());
    await pause(CONNECT_EVERY_MS);
  }
  const ended = await Promise.all(asked);
  const count = (what: string) => ended.filter((end) => end === what).length;
  return { connections: ended.length, refused: count('refused'), cut: count('cut') };
}

/** Kills one worker after the other for `forMs` and connects all the while; all workers serve again afterwards. */
export async function killWorkers(t: TestContext, forMs: number): Promise<Findings> {
  const redis = await startRedis(t);
  const env = { WORKERS: String(WORKERS), REDIS_URL: redis.url, NODE_ID: 'n', DEMO: 'off' };
  const beganMs = performance.now();
  const service = await startService(t, { env });
  const startMs = performance.now() - beganMs;
  const everyMs = Math.max(KILL_EVERY_MS, KILL_EVERY_STARTS * startMs);
  await eventually(
    () => started(service),
    STARTS_MS,
    () => service.output().stderr,
  );
  const dice = createDice();
  const endMs = performance.now() + forMs;
  const connecting = connectFor(service.baseUrl, endMs);
  let kills = 0;
  while (performance.now() < endMs) {
    const victims = await serving(service);
    if (victims.length > 0) {
      process.kill(dice.pick(victims), 'SIGKILL');
      kills += 1;
    }
    await pause(everyMs);
  }
  const findings = await connecting;
  let up: readonly number[] = [];
  const allServe = async () => {
    up = await serving(service);
    return up.length === WORKERS;
  };
  await eventually(allServe, STARTS_MS, () => `${up.length} of ${WORKERS} workers serve`);
  await service.stop();
  t.diagnostic(`a start takes ${startMs.toFixed()} ms; ${kills} kills, one every ${everyMs.toFixed()} ms: ${JSON.stringify(findings)}`);
  return { ...findings, kills };
}
