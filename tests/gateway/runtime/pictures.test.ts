/** Many turns with large pictures at once; what they cost the process in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { png, pngChunk } from '../../assistant/images/image-bytes.ts';
import { createClient } from '../../support/client.ts';
import { residentBytes } from '../../support/process.ts';
import { startScriptedChat } from './scripted-chat.ts';
import { upload } from './uploading.ts';

const TURNS = 6;
const PICTURES = 4;
const PICTURE_BYTES = 2 * 1024 * 1024;
/** All pictures are 48 MB, their base64 64: whatever holds both is beyond this. */
const GROWTH_MAX_BYTES = 64 * 1024 * 1024;

test('MODEL-19: pictures of many turns at once are sent from their files, and never held', async (t) => {
  const { service, app, script, asked } = await startScriptedChat(t);
  const picture = png(3, 2, [pngChunk('teXt', Buffer.alloc(PICTURE_BYTES, 7))]);
  const turns: { device: string; ids: string[] }[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const device = turn.toString(16).padStart(32, '0');
    const ids: string[] = [];
    for (let at = 0; at < PICTURES; at++) ids.push((await upload({ baseUrl: service.baseUrl, key: app.liveKey, device }, picture)).id);
    turns.push({ device, ids });
  }
  script(...turns.map(() => [{ text: 'A cat.' }]));
  const before = residentBytes(service.pid);
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, residentBytes(service.pid));
  }, 5);
  t.after(() => clearInterval(watch));
  const answers = await Promise.all(
    turns.map(({ device, ids }) =>
      createClient(service.baseUrl, app.liveKey, device).say('What is this?', { attachments: ids.map((upload_id) => ({ upload_id })) }),
    ),
  );
  clearInterval(watch);
  assert.deepEqual(
    answers.map(({ events }) => events.at(-1)?.status),
    turns.map(() => 'completed'),
  );
  assert.equal(asked().length, TURNS);
  const grown = most - before;
  assert.ok(grown < GROWTH_MAX_BYTES, `${Math.round(grown / 1024 / 1024)} MB`);
});
