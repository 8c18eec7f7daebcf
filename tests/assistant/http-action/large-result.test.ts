/** Large answers of endpoints: cut to the same words as small ones, and not on the event loop. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createResultCutter } from '../../../assistant/http-action/large-result.ts';
import { hiderOf, type Shown, shownError, shownResult } from '../../../assistant/http-action/result.ts';
import { ACTION_RESULT_MAX_BYTES, HTTP_ACTION_ANSWER_MAX_BYTES } from '../../../protocol/limits.ts';
import { threadClock } from '../../../watch/thread-time.ts';

const SHOWN: Shown = { result_path: undefined, result_fields: [], result_limit: 50 };
const SECRET = 'user-token-1234567890';

function cutter(t: TestContext) {
  const made = createResultCutter();
  t.after(() => made.close());
  return made;
}

function filled(item: string): string {
  return `[${Array.from({ length: Math.floor((HTTP_ACTION_ANSWER_MAX_BYTES - 2) / (item.length + 1)) }, () => item).join(',')}]`;
}

for (const [shape, body] of [
  ['towers of 60 levels', filled('['.repeat(60) + ']'.repeat(60))],
  ['towers of 60 objects', filled(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`)],
  ['one tower', '['.repeat(HTTP_ACTION_ANSWER_MAX_BYTES / 2) + ']'.repeat(HTTP_ACTION_ANSWER_MAX_BYTES / 2)],
  ['many small objects', filled('{"a":1,"b":"2"}')],
  ['text that is no JSON', 'not json '.repeat(100_000)],
] as const) {
  test(`CALL-10: a megabyte of ${shape} is cut off the event loop, to what it would be cut to there`, async (t) => {
    const it = cutter(t);
    // The thread is made at the first call.
    await it.shown(SHOWN, { status: 200, body: filled('1') }, [SECRET]);
    const { mock } = t.mock.method(JSON, 'parse');
    const shown = await it.shown(SHOWN, { status: 200, body }, [SECRET]);
    assert.equal(mock.callCount(), 0, 'nothing is parsed here');
    mock.restore();
    assert.ok(Buffer.byteLength(shown) <= ACTION_RESULT_MAX_BYTES);
    assert.equal(shown, shownResult(SHOWN, { status: 200, body }, hiderOf([SECRET])));
  });
}

test('CALL-9, CALL-10: credentials are hidden in a large answer, too', async (t) => {
  const body = JSON.stringify({ echoed: SECRET, filling: 'x'.repeat(100_000) });
  const shown = await cutter(t).shown(SHOWN, { status: 200, body }, [SECRET, undefined]);
  assert.ok(!shown.includes(SECRET) && shown.includes('[hidden]'));
});

test('CALL-10: a large answer that cannot be read is told as such, and the call stays made', async (t) => {
  const it = cutter(t);
  await it.close();
  const shown = await it.shown(SHOWN, { status: 200, body: filled('1') }, []);
  assert.match(shown, /The call was made and answered/);
});

test('CALL-10: an error page of a megabyte of spaces keeps nobody waiting', () => {
  const clock = threadClock();
  const before = clock().ranMs;
  const error = shownError('It failed.', { status: 500, body: ' x'.repeat(HTTP_ACTION_ANSWER_MAX_BYTES / 2) }, hiderOf([SECRET]));
  assert.ok(error.startsWith('It failed. It said: x x x'));
  // 3 ms on a quick machine; with a search that goes back at each space it is minutes.
  assert.ok(clock().ranMs - before < 1_000);
});
