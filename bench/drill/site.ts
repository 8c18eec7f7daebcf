/**
 * What a drill has around its hosts and what does not burn with them: Redis, a model, the backend of an app, and where the replicas go. The
 * model and the backend are servers at the network's edge; Redis and object storage are real programs.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  callChunks,
  completionChunk,
  DONE,
  requestBody,
  STREAM_HEAD,
  usageChunk,
  writeWhenReady,
} from '../../tests/support/completions.ts';
import { serveFake } from '../../tests/support/fake-server.ts';
import { launchObjectStorage } from '../../tests/support/object-storage.ts';
import { startRedis } from '../servers/cell.ts';

/** What a person says to have the app's backend called. */
export const DO_IT = 'Please do it.';
export const ACTION = 'do_it';

export type Site = Awaited<ReturnType<typeof openSite>>;

/** What a person says to be told much. */
export const AT_LENGTH = 'Tell me at length.';

interface ModelRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

const WORDS_MS = 5;
const SENTENCE = 'Your order is on its way.';
/** Some two seconds of words. */
const SENTENCES_AT_LENGTH = 60;
const USAGE = { prompt_tokens: 100, completion_tokens: 20 };

/** Says some words; asked for an action by its name, calls it, and then repeats what it was told of it. */
async function startModel() {
  return serveFake(async (req, res) => {
    const { model, messages, tools = [] } = await requestBody<ModelRequest>(req);
    const last = messages.at(-1);
    const said = String(last?.content);
    res.writeHead(200, STREAM_HEAD);
    const asked = tools.find(({ function: { name } }) => said.includes(name.replaceAll('_', ' ')))?.function.name;
    if (last?.role !== 'tool' && asked !== undefined) {
      const args = asked === ACTION ? {} : { order_id: 'A-1042' };
      for (const chunk of callChunks(model, { id: `call_${randomUUID().slice(0, 8)}`, name: asked, args }))
        await writeWhenReady(res, chunk);
      await writeWhenReady(res, completionChunk(model, {}, 'tool_calls'));
    } else {
      const answer = said.includes(AT_LENGTH) ? Array.from({ length: SENTENCES_AT_LENGTH }, () => SENTENCE).join(' ') : SENTENCE;
      const text = last?.role === 'tool' ? said : answer;
      for (const word of text.split(' ')) {
        await writeWhenReady(res, completionChunk(model, { content: `${word} ` }));
        await new Promise((resolve) => setTimeout(resolve, WORDS_MS));
      }
      await writeWhenReady(res, completionChunk(model, {}, 'stop'));
    }
    res.end(usageChunk(model, USAGE) + DONE);
  });
}

export async function openSite({ s3 }: { readonly s3: boolean }) {
  const dir = mkdtempSync(join(tmpdir(), 'assistant-drill-'));
  const redis = await startRedis(dir, dir, 'drill');
  /** How often each call reached the backend, by its idempotency key, which is the id of the invocation. */
  const calls = new Map<string, number>();
  const backend = await serveFake((req, res) => {
    const id = String(req.headers['idempotency-key']);
    calls.set(id, (calls.get(id) ?? 0) + 1);
    req.resume();
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.end('{"ok":true}');
  });
  const model = await startModel();
  const replicas = join(dir, 'replicas');
  const storage = s3 ? await launchObjectStorage(replicas) : undefined;
  const top = storage?.url ?? `file://${replicas}`;
  return {
    dir,
    redisUrl: redis.url,
    modelEnv: {
      MODEL_PROVIDER: 'openai',
      OPENAI_BASE_URL: `${model.url()}/v1`,
      MODEL: 'drill',
      MODEL_PRICES: '{"drill":{"input":2.5,"output":10}}',
      MODEL_CHECK: 'off',
    },
    backendUrl: backend.url(),
    calls,
    address: (name: string) => `${top}/${name}`,
    folder: (name: string) => join(replicas, top.startsWith('s3://') ? top.slice('s3://'.length) : '', name),
    storageEnv: storage?.env ?? {},
    async close() {
      await redis.process.stop();
      await backend.close();
      await model.close();
      storage?.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
