/** A round that waits holds little of what its upstream has written already. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createOpenAiModel } from '../../../../assistant/models/openai/openai.ts';

const PIECE_CHARS = 200;
const PIECES = 5_000;

function chunk(delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

test('MODEL-18: an upstream that writes a million characters at once is read 4 KB at a time, and little comes after a pause', async (t) => {
  const server = createServer((_, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    res.write(chunk({ content: 'x'.repeat(PIECE_CHARS) }).repeat(PIECES));
    res.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const model = createOpenAiModel({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, model: 'm' });
  t.after(async () => {
    await model.close();
    server.close();
  });
  let chars = 0;
  let paused = 0;
  let mostAfterPause = 0;
  await new Promise<void>((resolve, reject) => {
    let pausedAtChars = -1;
    const run = model.stream(
      {
        system: '',
        messages: [{ role: 'user', content: 'Go.' }],
        now: '',
        passages: [],
        tools: [],
        requestId: 'r',
        sender: { app: 'a', device: 'd' },
      },
      {
        text(delta) {
          chars += delta.length;
          if (pausedAtChars >= 0) mostAfterPause = Math.max(mostAfterPause, chars - pausedAtChars);
          if (pausedAtChars >= 0 || ++paused > 20) return;
          pausedAtChars = chars;
          run.pause();
          void nextTick().then(() => {
            pausedAtChars = -1;
            run.resume();
          });
        },
        toolCallStarted() {},
        finished: () => resolve(),
        failed: (failure) => reject(new Error(failure.detail)),
      },
    );
  });
  assert.equal(chars, PIECE_CHARS * PIECES);
  assert.ok(paused > 10 && mostAfterPause <= 2 * 4_096, `${mostAfterPause} characters after a pause`);
});
