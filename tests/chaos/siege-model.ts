/** A process beside a siege: the model, which reads and forgets whatever it is sent, and a trivial server that shows what the machine adds. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { completionChunk, DONE, STREAM_HEAD, usageChunk } from '../support/completions.ts';
import { LONG_ANSWER } from './siege-attacks.ts';

/** What is asked for at the end of a short request. */
const LOOKED_AT_BYTES = 64 * 1024;
/** 10 KB a second: five times what the fastest models say. For an answer as fast as the wire see slow-reader.test.ts. */
const PIECE = 'a word and another '.repeat(54);
const PIECE_EVERY_MS = 100;
const PIECES = 10_000;

const MODEL = 'scripted';

async function answer(res: ServerResponse, long: boolean): Promise<void> {
  res.writeHead(200, STREAM_HEAD);
  for (let n = 0; n < (long ? PIECES : 1) && !res.destroyed; n++) {
    const ready = res.write(completionChunk(MODEL, { content: long ? PIECE : 'Hello.' }));
    if (long) await pause(PIECE_EVERY_MS);
    while (!ready && res.writableNeedDrain && !res.destroyed) await pause(PIECE_EVERY_MS);
  }
  res.end(completionChunk(MODEL, {}, 'stop') + usageChunk(MODEL, { prompt_tokens: 100, completion_tokens: 3 }) + DONE);
}

const model = createServer(async (req, res) => {
  const looked: Buffer[] = [];
  let bytes = 0;
  req.on('data', (data: Buffer) => {
    bytes += data.length;
    if (bytes < LOOKED_AT_BYTES) looked.push(data);
  });
  req.on('error', () => {});
  req.once('end', () => void answer(res, Buffer.concat(looked).includes(LONG_ANSWER)).catch(() => {}));
});
const control = createServer((_, res) => void res.end('ok'));

if (process.send !== undefined) {
  const listening = [model, control].map(async (server) => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  Promise.all(listening).then(([modelUrl, controlUrl]) => process.send?.({ modelUrl, controlUrl }));
  process.once('disconnect', () => process.exit(0));
}
