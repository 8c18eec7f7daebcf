/** A process beside a test: a model that says ten million characters as fast as they are read, or a few words when it is not asked for more. */
import type { ServerResponse } from 'node:http';
import { completionChunk, DONE, STREAM_HEAD, writeWhenReady } from '../support/completions.ts';
import { serveFake } from '../support/fake-server.ts';

/** Asks for the ten million characters. */
export const EVERYTHING = 'Tell me everything';
const ANSWER_CHARS = 10 * 1024 * 1024;
const PIECE_CHARS = Number(process.env.PIECE_CHARS ?? 8 * 1024);
/** What is asked for stands at the end of a short request. */
const LOOKED_AT_CHARS = 64 * 1024;
/** Six bytes each in JSON; or words, as models say them. */
const PIECE =
  process.env.PIECE === 'escaped' ? '\u0001'.repeat(PIECE_CHARS) : 'a word and another '.repeat(PIECE_CHARS).slice(0, PIECE_CHARS);

const MODEL = 'scripted';
const LONG = Buffer.from(completionChunk(MODEL, { content: PIECE }));
const SHORT = completionChunk(MODEL, { content: 'Hello.' });
const END = completionChunk(MODEL, {}, 'stop') + DONE;

async function answer(res: ServerResponse, isLong: boolean): Promise<void> {
  res.writeHead(200, STREAM_HEAD);
  for (let chars = 0; isLong && chars < ANSWER_CHARS && !res.destroyed; chars += PIECE_CHARS) await writeWhenReady(res, LONG);
  if (!isLong) res.write(SHORT);
  res.end(END);
}

if (process.send !== undefined) {
  const { url } = await serveFake(async (req, res) => {
    let text = '';
    for await (const data of req) if (text.length < LOOKED_AT_CHARS) text += data;
    await answer(res, text.includes(EVERYTHING));
  });
  process.send(url());
  process.once('disconnect', () => process.exit(0));
}
