/** A process beside a test: a model that says ten million characters as fast as they are read, or a few words when it is not asked for more. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Asks for the ten million characters. */
export const EVERYTHING = 'Tell me everything';
const ANSWER_CHARS = 10 * 1024 * 1024;
const PIECE_CHARS = Number(process.env.PIECE_CHARS ?? 8 * 1024);
/** What is asked for stands at the end of a short request. */
const LOOKED_AT_CHARS = 64 * 1024;
/** Six bytes each in JSON; or words, as models say them. */
const PIECE =
  process.env.PIECE === 'escaped' ? '\u0001'.repeat(PIECE_CHARS) : 'a word and another '.repeat(PIECE_CHARS).slice(0, PIECE_CHARS);

function chunk(delta: unknown, more: object = {}): string {
  return `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
}

const LONG = Buffer.from(chunk({ content: PIECE }));
const SHORT = Buffer.from(chunk({ content: 'Hello.' }));
const END = `${chunk({}, { finish_reason: 'stop' })}data: [DONE]\n\n`;

async function answer(res: ServerResponse, isLong: boolean): Promise<void> {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  let goOn = () => {};
  res.on('drain', () => goOn());
  res.once('close', () => goOn());
  for (let chars = 0; isLong && chars < ANSWER_CHARS && !res.destroyed; chars += PIECE_CHARS) {
    if (res.write(LONG)) continue;
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
  }
  if (!isLong) res.write(SHORT);
  res.end(END);
}

const server = createServer(async (req, res) => {
  let text = '';
  for await (const data of req) if (text.length < LOOKED_AT_CHARS) text += data;
  await answer(res, text.includes(EVERYTHING));
});

if (process.send !== undefined) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  process.once('disconnect', () => process.exit(0));
}
