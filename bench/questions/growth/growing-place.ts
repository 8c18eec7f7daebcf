/** Where the questions of growth have the service store things: a data directory, a fake model, and conversations that it makes itself. */
import { randomUUID } from 'node:crypto';
import { StreamClient, turnRequest } from '../../load/turn-client.ts';
import { mintDevice } from '../../loadtest/service-api.ts';
import { withModel } from '../../model/model.ts';
import { SERVER_CORE } from '../../servers/processes.ts';
import { modelEnv, type Server, startProgram, withDataDir } from '../../servers/service.ts';
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

/** Has the service itself make a conversation of so many turns; returns its id. */
export async function converse({ port }: Server, liveKey: string, turns: number, answers: Answers): Promise<string> {
  const client = new StreamClient(port);
  const device = mintDevice();
  try {
    let { conversationId: id } = await takeTurn(client, liveKey, { device }, answers);
    for (let turn = 1; turn < turns; turn++) id = (await takeTurn(client, liveKey, { device, id }, answers)).conversationId;
    return id;
  } finally {
    client.close();
  }
}
