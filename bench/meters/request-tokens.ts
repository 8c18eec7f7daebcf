/** What a server asks the model in a first turn, in tokens: one turn against a model that keeps the request. */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { completionChunk, DONE, requestBody, STREAM_HEAD, usageChunk } from '../../tests/support/completions.ts';
import type { Candidate, Scene, Target } from '../servers/candidate.ts';

const MODEL = 'fake-1-0';

export interface ModelRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly unknown[];
}

export type RequestTokens = Awaited<ReturnType<typeof countTokens>>;

/** Counted as models of o200k_base read them: what frames a message is counted as well. */
export async function countTokens(request: ModelRequest) {
  // Some megabytes of tables, which only this needs.
  const { countTokens: count } = await import('gpt-tokenizer/model/gpt-4o');
  const { messages, tools = [] } = request;
  return {
    bytes: Buffer.byteLength(JSON.stringify(request)),
    messages: count(messages),
    tools: tools.length === 0 ? 0 : count(JSON.stringify(tools)),
    tool_definitions: tools.length,
  };
}

/** A model that says one word, and keeps what it was asked, for as long as `work` needs it. */
async function recorded(work: (upstream: string) => Promise<void>): Promise<ModelRequest[]> {
  const requests: ModelRequest[] = [];
  const server = createServer(async (request, response) => {
    requests.push(await requestBody<ModelRequest>(request));
    response.writeHead(200, STREAM_HEAD);
    response.write(completionChunk(MODEL, { role: 'assistant', content: 'the ' }));
    response.write(completionChunk(MODEL, {}, 'stop'));
    response.end(usageChunk(MODEL, { prompt_tokens: 12, completion_tokens: 1 }) + DONE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return requests;
}

/** One turn, as the load client asks for it. @throws when it is not answered to its end */
async function turn({ port, path, headers, body, answer }: Target): Promise<void> {
  const device = randomBytes(16).toString('hex');
  const filled = headers.map((line) => line.replace('%DEVICE%', device).split(': ') as [string, string]);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: Object.fromEntries(filled),
    body: body.replace('%TURN%', randomUUID()),
  });
  const text = await response.text();
  if (response.status !== 200 || !text.includes(answer.end?.in ?? ''))
    throw new Error(`a turn was answered ${response.status}: ${text.slice(0, 300)}`);
}

export async function firstTurnTokens(candidate: Candidate, scene: Omit<Scene, 'upstream' | 'model'>): Promise<RequestTokens> {
  const requests = await recorded(async (upstream) => {
    const target = await candidate.start({ ...scene, model: MODEL, upstream });
    try {
      await turn(target);
    } finally {
      await target.stop();
    }
  });
  const [request] = requests;
  if (request === undefined || requests.length > 1)
    throw new Error(`a first turn of ${candidate.name} made ${requests.length} requests to the model`);
  return countTokens(request);
}
