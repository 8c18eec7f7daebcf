/** What a turn costs the service while something it stores grows: the points, the curve, and the sentence that names what grows too much. */

import { randomUUID } from 'node:crypto';
import { StreamClient, turnRequest } from '../../load/turn-client.ts';
import { spending } from '../../meters/cpu.ts';
import { withModel } from '../../model/model.ts';
import type { Curve, Point } from '../../question.ts';
import { digits, median } from '../../report/table.ts';
import type { Running } from '../../servers/processes.ts';
import { SERVER_CORE } from '../../servers/processes.ts';
import { modelEnv, type Server, startProgram, withDataDir } from '../../servers/service.ts';
import { reasonOf } from '../../workloads/rounds.ts';
import { TOKEN_CHARS } from '../../workloads/workloads.ts';

/** What the fake model answers: so many tokens, at once unless told how far apart. */
export interface Answers {
  readonly tokens: number;
  readonly apartMs?: number;
}

export interface Place {
  readonly dataDir: string;
  readonly outDir: string;
  readonly upstream: string;
}

/** A place on the temporary folder's disk for as long as `work` needs it. */
export function withPlace<T>(outDir: string, work: (place: Place) => Promise<T>): Promise<T> {
  return withModel(outDir, ({ origin }) =>
    withDataDir(async (dataDir, remove) => {
      const found = await work({ dataDir, outDir, upstream: origin });
      remove();
      return found;
    }),
  );
}

/** Starts the service on what is stored there, without the demo's organisation. */
export function startAt({ dataDir, outDir, upstream }: Place, { tokens, apartMs = 0 }: Answers, readyTimeoutMs?: number): Promise<Server> {
  const env = { ...modelEnv({ model: `fake-${tokens}-${apartMs}`, upstream }), DEMO: 'off' };
  return startProgram({ name: 'service-growing', core: SERVER_CORE, dataDir, outDir, env, readyTimeoutMs });
}

/** A conversation of a device; without an id it is yet to begin. */
export interface Asked {
  readonly device: string;
  readonly id?: string | undefined;
}

export interface Answered {
  readonly conversationId: string;
  /** From sending the message to reading the first text. */
  readonly firstMs: number;
}

/** A message and its whole answer. @throws Error when it was not answered whole, or in another conversation. */
export async function takeTurn(client: StreamClient, liveKey: string, { device, id }: Asked, { tokens }: Answers): Promise<Answered> {
  let [conversationId, firstAtMs, chars, last] = ['', Number.NaN, 0, ''];
  const sentAtMs = performance.now();
  await client.read(turnRequest({ liveKey, device }, randomUUID(), id), ({ type, data, atMs }) => {
    last = data;
    if (type === 'turn.start') conversationId = (JSON.parse(data) as { conversation_id: string }).conversation_id;
    if (type !== 'block.delta') return;
    if (chars === 0) firstAtMs = atMs;
    chars += (JSON.parse(data) as { text_delta: string }).text_delta.length;
  });
  const isWhole = chars === tokens * TOKEN_CHARS && last.includes('"completed"') && (id === undefined || id === conversationId);
  if (!isWhole) throw new Error(`a turn was not whole (${chars} characters): ${last.slice(0, 300)}`);
  return { conversationId, firstMs: firstAtMs - sentAtMs };
}

/** A cost that is more than this many times what it is at the smallest size grows faster than it should. */
const GROWTH_MAX = 1.3;
export interface Growth {
  /** As a sentence begins: "CPU time of a turn". */
  readonly cost: string;
  /** Empty: a count. */
  readonly unit: string;
  /** What there are more of: "messages in its conversation". */
  readonly of: string;
  /** From the smallest size to the largest. */
  readonly points: readonly Point[];
}

export function pointOf(x: number, rounds: readonly number[]): Point {
  return { x, y: median(rounds), low: Math.min(...rounds), high: Math.max(...rounds) };
}

export function curveOf({ cost, unit, of, points }: Growth): Curve {
  return { title: `${cost} by ${of}`, x: of, y: unit === '' ? cost : `${cost}, ${unit}`, logX: true, lines: [{ name: 'service', points }] };
}

/** Names a cost that grows too much, beyond the spread of its rounds; none otherwise. */
export function growthWarnings({ cost, unit, of, points }: Growth): string[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const ratio = last.y / first.y;
  if (ratio <= GROWTH_MAX || (last.low ?? last.y) <= (first.high ?? first.y)) return [];
  const [few, many] = [first, last].map(({ x, y }) => `${digits(y)}${unit === '' ? '' : ` ${unit}`} at ${x.toLocaleString('en-US')}`);
  return [`${cost} grows with the ${of}: ${many} is ${ratio.toFixed(1)} times the ${few}.`];
}

export interface Turns {
  readonly ok: number;
  readonly broken: number;
  readonly firstP50Ms: number;
  readonly reasons: readonly string[];
}

/** Does a piece of work so often, so many at a time, each with clients of its own; it returns the milliseconds until its first text. */
export async function repeated(
  { port }: Server,
  { times, atATime, clients = 1 }: { readonly times: number; readonly atATime: number; readonly clients?: number },
  work: (clients: readonly StreamClient[], at: number) => Promise<number>,
): Promise<Turns> {
  const [firstMs, reasons] = [[] as number[], [] as string[]];
  let next = 0;
  const one = async (): Promise<void> => {
    const own = Array.from({ length: clients }, () => new StreamClient(port));
    while (next < times) {
      try {
        firstMs.push(await work(own, next++));
      } catch (error) {
        reasons.push(reasonOf(error));
      }
    }
    for (const client of own) client.close();
  };
  await Promise.all(Array.from({ length: atATime }, one));
  return { ok: firstMs.length, broken: reasons.length, firstP50Ms: median(firstMs), reasons };
}

export type TurnCost = Awaited<ReturnType<typeof costOfTurns>>;

/** Has `take` send turns, and says what each cost the server. @throws Error when none was answered whole. */
export async function costOfTurns(server: Running, take: () => Promise<Turns>) {
  const {
    result: { ok, broken, firstP50Ms, reasons },
    ns: [cpu = 0],
  } = await spending([server], take);
  if (ok === 0) throw new Error(`no turn was whole: ${reasons[0] ?? 'nothing came'}`);
  return { cpu_us: cpu / 1e3 / ok, first_p50_ms: firstP50Ms, ok, broken };
}
