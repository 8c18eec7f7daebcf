/** What we make of a stream is what its maker's own package makes of it, wherever the bytes were cut. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { MessageDecoder } from '../../../assistant/models/anthropic/message-decoder.ts';
import { CompletionDecoder } from '../../../assistant/models/openai/completion-decoder.ts';
import { ResponseDecoder } from '../../../assistant/models/openai/response-decoder.ts';
import type { StreamDecoder } from '../../../assistant/models/stream/completion-run.ts';
import { SseDecoder } from '../../../assistant/models/stream/sse-decoder.ts';
import { createDice, type Dice } from '../../support/seeded.ts';
import { completionStream, type MadeUp, madeUp, messageStream, responseStream } from './makers-streams.ts';

/** An answer, whoever decoded it. Tokens: read, of these from the cache, and written. */
interface Decoded {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  readonly isCutOff: boolean;
  readonly tokens: readonly (number | undefined)[];
}

type Cut = readonly Buffer[];

interface MakerWire {
  stream(answer: MadeUp, dice: Dice): string;
  decoder(): StreamDecoder;
  maker(parts: Cut): Promise<Decoded>;
}

function ours(decoder: StreamDecoder, parts: Cut): Decoded {
  const lines = new SseDecoder(decoder);
  let text = '';
  for (const part of parts) {
    lines.push(Buffer.from(part));
    text += decoder.takeText();
  }
  assert.equal(decoder.failure, undefined);
  assert.ok(decoder.done);
  const { toolCalls, reason, usage } = decoder.result();
  return {
    text,
    calls: toolCalls.map(({ id, name, arguments: written }) => ({ id, name, args: JSON.parse(written) })),
    isCutOff: reason === 'length',
    tokens: [usage?.inputTokens, usage?.cachedTokens ?? 0, usage?.outputTokens],
  };
}

/** A `fetch` that answers with these parts. */
function answering(parts: Cut): typeof fetch {
  return async () => {
    const body = new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(new Uint8Array(part));
        controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

const ASKED = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hello' }] };
const openAi = (parts: Cut) => new OpenAI({ apiKey: 'key', fetch: answering(parts), maxRetries: 0 });

async function byCompletions(parts: Cut): Promise<Decoded> {
  const { choices, usage } = await openAi(parts).chat.completions.stream(ASKED).finalChatCompletion();
  const choice = choices[0];
  assert.ok(choice);
  const calls = (choice.message.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []));
  return {
    text: choice.message.content ?? '',
    calls: calls.map(({ id, function: { name, arguments: written } }) => ({ id, name, args: JSON.parse(written) })),
    isCutOff: choice.finish_reason === 'length',
    tokens: [usage?.prompt_tokens, usage?.prompt_tokens_details?.cached_tokens, usage?.completion_tokens],
  };
}

async function byResponses(parts: Cut): Promise<Decoded> {
  let text = '';
  const stream = openAi(parts).responses.stream({ model: 'm', input: 'Hello' });
  stream.on('response.output_text.delta', ({ delta }) => {
    text += delta;
  });
  const { output, status, usage } = await stream.finalResponse();
  const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
  return {
    text,
    calls: calls.map(({ call_id: id, name, arguments: written }) => ({ id, name, args: JSON.parse(written) })),
    isCutOff: status === 'incomplete',
    tokens: [usage?.input_tokens, usage?.input_tokens_details.cached_tokens, usage?.output_tokens],
  };
}

async function byMessages(parts: Cut): Promise<Decoded> {
  const client = new Anthropic({ apiKey: 'key', fetch: answering(parts), maxRetries: 0 });
  const { content, stop_reason: reason, usage } = await client.messages.stream(ASKED).finalMessage();
  const read = usage.cache_read_input_tokens ?? 0;
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content.flatMap((block) => (block.type === 'tool_use' ? [{ id: block.id, name: block.name, args: block.input }] : [])),
    isCutOff: reason === 'max_tokens',
    tokens: [usage.input_tokens + read + (usage.cache_creation_input_tokens ?? 0), read, usage.output_tokens],
  };
}

const WIRES: Readonly<Record<string, MakerWire>> = {
  'chat completions': { stream: completionStream, decoder: () => new CompletionDecoder(() => {}), maker: byCompletions },
  Responses: {
    stream: (answer, dice) => responseStream(answer, dice.below(2) === 0),
    decoder: () => new ResponseDecoder(() => {}),
    maker: byResponses,
  },
  'Anthropic Messages': { stream: messageStream, decoder: () => new MessageDecoder(() => {}), maker: byMessages },
};

/** Cut at as many places by chance. */
function cutBy(dice: Dice, bytes: Buffer): Buffer[] {
  const places = Array.from({ length: dice.below(40) }, () => dice.below(bytes.length)).sort((one, other) => one - other);
  return [0, ...places].map((from, nth) => bytes.subarray(from, places[nth]));
}

const EVERY_BYTE = 3;
const ANSWERS = 60;

for (const [name, { stream, decoder, maker }] of Object.entries(WIRES)) {
  test(`MODEL-38: ${name}: made-up answers are decoded as the maker's package decodes them, cut at every byte`, async () => {
    const dice = createDice();
    for (let nth = 0; nth < ANSWERS; nth++) {
      const bytes = Buffer.from(stream(madeUp(dice), dice));
      const said = await maker([bytes]);
      assert.deepEqual(ours(decoder(), [bytes]), said, `seed ${dice.seed}, answer ${nth}`);
      const parts = cutBy(dice, bytes);
      assert.deepEqual(ours(decoder(), parts), said, `seed ${dice.seed}, answer ${nth}, cut`);
      assert.deepEqual(await maker(parts), said);
      if (nth >= EVERY_BYTE) continue;
      for (let at = 1; at < bytes.length; at++) {
        assert.deepEqual(ours(decoder(), [bytes.subarray(0, at), bytes.subarray(at)]), said, `answer ${nth}, cut at ${at}`);
      }
    }
  });
}
