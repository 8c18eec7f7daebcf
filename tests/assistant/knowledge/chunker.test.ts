/** Long knowledge texts are cut beside the event loop, to the passages that they would be cut to there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkText } from '../../../assistant/knowledge/chunk.ts';
import { Chunker } from '../../../assistant/knowledge/chunker.ts';
import { threadClock } from '../../../watch/thread-time.ts';

const LONG = '. '.repeat(100_000);

test('SEARCH-3: 200,000 characters of the worst shape keep the event loop for no time worth naming', async (t) => {
  const chunker = new Chunker();
  t.after(() => chunker.close());
  await chunker.chunk(`${LONG} first`);
  const clock = threadClock();
  const before = clock().ranMs;
  const pending = chunker.chunk(LONG);
  assert.ok(clock().ranMs - before < 50);
  assert.deepEqual(await pending, chunkText(LONG));
});

test('SEARCH-3: more long texts than the thread takes wait for it, and none is cut on the event loop', async () => {
  const chunker = new Chunker();
  const text = 'A sentence. '.repeat(2_000);
  await chunker.chunk(text);
  const clock = threadClock();
  const before = clock().ranMs;
  const cut = Promise.all(Array.from({ length: 100 }, () => chunker.chunk(text)));
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(clock().ranMs - before < 100, `${clock().ranMs - before} ms`);
  await chunker.close();
  assert.equal(
    (await cut).every((chunks) => chunks.length > 0),
    true,
    'also when it is closed meanwhile',
  );
});

test('SEARCH-3: a text is cut also where the thread is gone', async () => {
  const chunker = new Chunker();
  await chunker.close();
  assert.deepEqual(await chunker.chunk(LONG), chunkText(LONG));
  assert.deepEqual(await chunker.chunk('Short.'), chunkText('Short.'));
});
