/** Streams that break, fall silent or are refused, against a service that does so on purpose. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../../support/eventually.ts';
import { ANSWER, startScriptedAssistant } from '../scripted-assistant.ts';
import { type Answer, sendJson, tell } from '../scripted-service.ts';

const whole: Answer = (response) => {
  tell(response, ANSWER);
  response.end();
};
/** Tells the beginning and cuts the connection. */
const cut: Answer = (response) => {
  tell(response, ANSWER.slice(0, 3));
  response.write('', () => response.destroy());
};

describe('CLIENT-6: a stream that breaks is taken up again', () => {
  test('by the same request, and the answer is there once', async (t) => {
    const { assistant, service, turn, until, log } = await startScriptedAssistant(t, {
      'POST /v1/chat': (response, asked, n) => (n === 0 ? cut : whole)(response, asked, n),
    });
    assistant.conversation.say('Is it so?');
    await until(() => turn().phase === 'completed');
    const [first, second, ...others] = service.of('POST', '/v1/chat');
    assert.equal(first?.body, second?.body);
    assert.deepEqual(others, []);
    assert.deepEqual(
      turn().blocks.map((block) => block.phase === 'ready' && block.block.body.md),
      ['Yes.'],
    );
    assert.ok(log.some(({ code }) => code === 'stream_broken'));
  });

  test('after 45 seconds of silence, too', async (t) => {
    const { assistant, clock, service, turn, until, log } = await startScriptedAssistant(t, {
      'POST /v1/chat': (response, asked, n) => (n === 0 ? tell(response, ANSWER.slice(0, 1)) : whole(response, asked, n)),
    });
    assistant.conversation.say('Is it so?');
    await eventually(() => turn().phase === 'answering');
    clock.pass(44_000);
    assert.equal(service.of('POST', '/v1/chat').length, 1);
    clock.pass(1_000);
    await until(() => turn().phase === 'completed');
    assert.ok(log.some(({ code }) => code === 'stream_idle'));
  });

  test('not before the time that the service names', async (t) => {
    const busy: Answer = (response) => sendJson(response, 503, { error: { code: 'internal', message: 'Later.' } }, { 'Retry-After': '7' });
    const askedAtMs: number[] = [];
    const { assistant, clock, turn, until } = await startScriptedAssistant(t, {
      'POST /v1/chat': (response, asked, n) => {
        askedAtMs.push(clock.nowMs());
        ([cut, busy][n] ?? whole)(response, asked, n);
      },
    });
    assistant.conversation.say('Is it so?');
    await until(() => turn().phase === 'completed');
    const [, refusedAtMs = 0, againAtMs = 0, ...others] = askedAtMs;
    assert.ok(againAtMs - refusedAtMs >= 7_000, `${againAtMs - refusedAtMs} ms`);
    assert.deepEqual(others, []);
  });

  test('for two minutes, and again when the client is woken', async (t) => {
    let isThere = false;
    const { assistant, clock, turn, until, log } = await startScriptedAssistant(t, {
      'POST /v1/chat': (response, asked, n) => (isThere ? whole(response, asked, n) : void response.destroy()),
    });
    assistant.conversation.say('Is it so?');
    await eventually(() => {
      clock.pass(1_000);
      return turn().phase === 'failed';
    });
    assert.deepEqual([turn().failure?.code, turn().failure?.retryable], ['unreachable', true]);
    assert.ok(log.some(({ code }) => code === 'stream_lost'));
    isThere = true;
    assistant.wake();
    await until(() => turn().phase === 'completed');
  });

  for (const status of [200, 500, 502, 503, 504]) {
    test(`however a page of somebody between looks: ${status}`, async (t) => {
      const { assistant, turn, until, service } = await startScriptedAssistant(t, {
        'POST /v1/chat': (response, asked, n) =>
          n === 0 ? response.writeHead(status, { 'Content-Type': 'text/html' }).end('<h1>Bad gateway</h1>') : whole(response, asked, n),
      });
      assistant.conversation.say('Is it so?');
      await until(() => turn().phase === 'completed');
      assert.equal(service.of('POST', '/v1/chat').length, 2);
    });
  }

  test('and where a proxy answers for two minutes, it failed as one that cannot be reached, and goes on when the client is woken', async (t) => {
    let isThere = false;
    const { assistant, clock, turn, until } = await startScriptedAssistant(t, {
      'POST /v1/chat': (response, asked, n) => (isThere ? whole(response, asked, n) : response.writeHead(502).end('<h1>Bad gateway</h1>')),
    });
    const saidAtMs = clock.nowMs();
    assistant.conversation.say('Is it so?');
    await eventually(() => {
      clock.pass(1_000);
      return turn().phase === 'failed';
    });
    assert.ok(clock.nowMs() - saidAtMs >= 120_000, `${clock.nowMs() - saidAtMs} ms`);
    assert.deepEqual([turn().failure?.code, turn().failure?.retryable], ['unreachable', true]);
    isThere = true;
    assistant.wake();
    await until(() => turn().phase === 'completed');
  });
});

test('CLIENT-7: the refusal of a turn is told at once, with the time that the service names, and nothing is sent by itself', async (t) => {
  const { assistant, service, turn, until } = await startScriptedAssistant(t, {
    'POST /v1/chat': (response, asked, n) => {
      if (n > 0) whole(response, asked, n);
      else sendJson(response, 429, { error: { code: 'rate_limited', message: 'Try again in 5 s.' } }, { 'Retry-After': '5' });
    },
  });
  const turnId = assistant.conversation.say('Is it so?');
  await until(() => turn().phase === 'failed');
  const { failure } = turn();
  assert.deepEqual(
    [failure?.code, failure?.retryable, failure?.retryAfterMs, failure?.message],
    ['rate_limited', true, 5_000, 'Try again in 5 s.'],
  );
  assert.equal(service.of('POST', '/v1/chat').length, 1);
  assistant.conversation.retry(turnId);
  await until(() => turn().phase === 'completed');
  const [first, second] = service.of('POST', '/v1/chat');
  assert.equal(first?.body, second?.body);
});

test('CLIENT-8: a busy model is asked once more, three seconds later', async (t) => {
  const { assistant, clock, service, turn } = await startScriptedAssistant(t, {
    'POST /v1/chat': (response, asked, n) => {
      if (n > 0) {
        tell(response, ANSWER, 3);
        response.end();
        return;
      }
      const [start] = ANSWER;
      tell(response, [
        ...(start === undefined ? [] : [start]),
        { type: 'error', code: 'model_busy', message: 'Busy.', retryable: true },
        { type: 'turn.end', status: 'error' },
      ]);
      response.end();
      assert.equal(asked.path, '/v1/chat');
    },
  });
  assistant.conversation.say('Is it so?');
  await eventually(() => clock.waitingMs.includes(3_000));
  clock.pass(2_999);
  assert.equal(service.of('POST', '/v1/chat').length, 1);
  clock.pass(1);
  await eventually(() => turn().phase === 'completed');
  assert.ok(turn().hasEarlyRetried);
});

test('CLIENT-20: a turn that the service does not have yet is stopped as soon as it does', async (t) => {
  let stop: (() => void) | undefined;
  const { assistant, service, turn, until } = await startScriptedAssistant(t, {
    'POST /v1/chat': (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(': open\n\n');
      stop = () => {
        tell(response, [{ type: 'turn.end', status: 'completed', stopped: true }]);
        response.end();
      };
    },
    'POST /v1/chat/:turn_id/stop': (response, _asked, n) => {
      if (n < 2) sendJson(response, 404, { error: { code: 'invalid_request', message: 'There is no such turn.' } });
      else {
        sendJson(response, 200, { ok: true, stopped: true });
        stop?.();
      }
    },
  });
  const turnId = assistant.conversation.say('Is it so?');
  await until(() => stop !== undefined);
  assistant.conversation.stop(turnId);
  await until(() => turn().phase === 'completed');
  assert.equal(turn().ending?.stopped, true);
  assert.equal(service.of('POST', `/v1/chat/${turnId}/stop`).length, 3);
});

test('CLIENT-34: a platform without TextDecoder, or whose fetch does not stream, fails once and clearly', async (t) => {
  const it = await startScriptedAssistant(t, { 'POST /v1/chat': whole });
  await it.assistant.ready;
  const { TextDecoder } = globalThis;
  const property = { configurable: true, writable: true, enumerable: false };
  t.after(() => Object.defineProperty(globalThis, 'TextDecoder', { ...property, value: TextDecoder }));
  Object.defineProperty(globalThis, 'TextDecoder', { ...property, value: undefined });
  it.assistant.conversation.say('Is it so?');
  await it.until(() => it.turn().phase === 'failed');
  assert.deepEqual([it.turn().failure?.code, it.turn().failure?.retryable], ['unusable', false]);
  assert.match(it.turn().failure?.message ?? '', /no TextDecoder/);
  assert.deepEqual(it.service.of('POST', '/v1/chat'), []);
  assert.equal(it.log.filter(({ code }) => code === 'turn_failed').length, 1);
  assert.ok(!it.log.some(({ code }) => code === 'stream_broken'));
  Object.defineProperty(globalThis, 'TextDecoder', { ...property, value: TextDecoder });

  const { fetch } = globalThis;
  t.after(() => Object.assign(globalThis, { fetch }));
  globalThis.fetch = async (...args) => {
    const { status, headers } = await fetch(...args);
    return { status, headers, body: undefined, text: () => Promise.resolve('') } as unknown as Response;
  };
  it.assistant.conversation.say('And now?');
  await it.until(() => it.turn().phase === 'failed' && it.turn().payload.message?.text === 'And now?');
  assert.match(it.turn().failure?.message ?? '', /does not stream/);
  assert.equal(it.service.of('POST', '/v1/chat').length, 1);
});
