/** What stands around conversations: the configuration, the manifest, files and telemetry, against a scripted service. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TurnContext } from '../../../../protocol/runtime/chat.ts';
import type { KeptValues } from '../../../../web/client/surroundings.ts';
import { eventually } from '../../../support/eventually.ts';
import { ANSWER, KEY, type ScriptedAssistant, startScriptedAssistant, USUAL } from '../scripted-assistant.ts';
import { type Answer, sendJson, tell } from '../scripted-service.ts';

const answered: Answer = (response) => {
  tell(response, ANSWER);
  response.end();
};
const refusal = (code: string, message = 'No.') => ({ error: { code, message } });

describe('CLIENT-14: whether the assistant is there', () => {
  test('it is asked for every minute while it cannot be reached, and is back when it answers', async (t) => {
    let isThere = false;
    const usual = USUAL['GET /v1/apps/config'] as Answer;
    const { assistant, clock, service, log } = await startScriptedAssistant(t, {
      'GET /v1/apps/config': (response, asked, n) => (isThere ? usual(response, asked, n) : void response.destroy()),
    });
    const availability = () => assistant.app.get().context.availability;
    await eventually(() => availability() === 'unavailable');
    await eventually(() => clock.waitingMs.includes(60_000));
    isThere = true;
    clock.pass(59_999);
    assert.equal(service.of('GET', '/v1/apps/config').length, 1);
    clock.pass(1);
    await eventually(() => availability() === 'available');
    assert.deepEqual(
      log.map(({ code }) => code).filter((code) => code.startsWith('config')),
      ['config_failed'],
    );
  });

  test('an answer takes eight seconds at most', async (t) => {
    const { assistant, clock } = await startScriptedAssistant(t, { 'GET /v1/apps/config': () => {} });
    await eventually(() => clock.waitingMs.includes(8_000));
    clock.pass(8_000);
    await eventually(() => assistant.app.get().context.failure?.code === 'timeout');
    assert.equal(assistant.app.get().context.availability, 'unavailable');
  });

  test('CLIENT-36: where something else answers, or nothing, the log says which address was asked, what came and what to look at', async (t) => {
    const page =
      (status: number): Answer =>
      (response) =>
        void response.writeHead(status, { 'Content-Type': 'text/html' }).end('<h1>Hi</h1>');
    for (const [answer, came] of [
      [page(404), /answered 404 text\/html, as the service does not: address must be its origin, and a proxy has to pass \/v1\/ on$/],
      [page(200), /answered 200 text\/html, as the service does not/],
      [page(502), /answered 502 text\/html, as the service does not/],
      [(response) => sendJson(response, 200, { name: 'another' }), /answered 200 application\/json, as the service does not/],
      [
        (response) => void response.destroy(),
        /brought no answer \(TypeError: .+\): see that the service runs there, that connect-src names it/,
      ],
    ] as readonly (readonly [Answer, RegExp])[]) {
      const { assistant, log, service } = await startScriptedAssistant(t, { 'GET /v1/apps/config': answer });
      await eventually(() => log.some(({ code }) => code === 'config_failed'));
      const { message = '' } = log.find(({ code }) => code === 'config_failed') ?? {};
      assert.ok(message.includes(`: GET ${service.url}/v1/apps/config `), message);
      assert.match(message, came);
      assert.doesNotMatch(assistant.app.get().context.failure?.message ?? '', /http/, 'people are told no address');
    }
  });

  test('what the service refuses is off, and said once', async (t) => {
    const { assistant, log, clock } = await startScriptedAssistant(t, {
      'GET /v1/apps/config': (response) => sendJson(response, 403, refusal('app_not_live')),
    });
    await eventually(() => assistant.app.get().context.availability === 'off');
    clock.pass(300_000);
    assert.equal(log.filter(({ code }) => code === 'app_not_live').length, 1);
  });

  test('a key that cannot be one switches it off before anything is sent', async (t) => {
    for (const key of ['sk_secret', 'rd_pk_live_…', 'rd_pk_live_1\n']) {
      const { assistant, service, log } = await startScriptedAssistant(t, {}, { key });
      await assistant.ready;
      assert.equal(assistant.app.get().context.availability, 'off');
      assert.deepEqual([service.asked, log.map(({ code }) => code)], [[], ['key_invalid']]);
    }
  });

  test('an app that serves signed-in people only is not there before somebody is signed in', async (t) => {
    const reply = { channel: 'draft', version: 1, updated_at: null, available: true, require_identity: true, config: {} };
    const { assistant, clock, service, log } = await startScriptedAssistant(t, {
      'GET /v1/apps/config': (response) => sendJson(response, 200, reply),
      'POST /v1/identify': (response) => sendJson(response, 200, { end_user_id: 'usr_1', verified: true }),
    });
    const state = () => assistant.app.get().context;
    await eventually(() => state().needsSignIn);
    assert.deepEqual([state().availability, state().failure], ['unavailable', undefined]);
    assert.deepEqual(
      log.filter(({ code }) => code === 'identity_required').map(({ level }) => level),
      ['info'],
    );
    clock.pass(120_000);
    assert.equal(service.of('GET', '/v1/apps/config').length, 1, 'and is not asked about every minute');
    await assistant.identify({ id: 'u_1' });
    assert.equal(state().availability, 'unavailable', 'a name alone proves nothing');
    await assistant.identify({ id: 'u_1', hmac: 'b'.repeat(64) });
    assert.deepEqual([state().availability, state().needsSignIn], ['available', false]);
    await assistant.signOut();
    assert.equal(state().availability, 'unavailable');
  });

  test('the next visit asks with the ETag, and looks as the last did until then', async (t) => {
    const reply = { channel: 'draft', version: 7, updated_at: null, available: true, config: { theme: {} } };
    const config: Answer = (response, { headers }) => {
      if (headers['if-none-match'] === '"seven"') response.writeHead(304).end();
      else sendJson(response, 200, reply, { ETag: '"seven"' });
    };
    const first = await startScriptedAssistant(t, { 'GET /v1/apps/config': config });
    await eventually(() => first.assistant.app.get().context.availability === 'available');
    const second = await startScriptedAssistant(t, { 'GET /v1/apps/config': config }, {}, first.kept);
    await eventually(() => second.assistant.app.get().context.availability === 'available');
    assert.deepEqual(second.assistant.app.get().context.configuration, reply);
    assert.equal(second.service.of('GET', '/v1/apps/config')[0]?.headers['if-none-match'], '"seven"');
  });
});

describe('CLIENT-9: the manifest', () => {
  const manifests = (asked: readonly { readonly body: string }[]) =>
    asked.map(({ body }) => (JSON.parse(body) as { manifest: { actions: { name: string }[] } }).manifest.actions.map(({ name }) => name));

  test('it is registered without actions, too, and after every change', async (t) => {
    const { assistant, service } = await startScriptedAssistant(t, {});
    await eventually(() => service.of('POST', '/v1/apps/manifest').length === 1);
    const takeAway = assistant.registerAction({ name: 'look', description: 'Looks.' }, () => 1);
    assistant.registerAction({ name: 'find', description: 'Finds.' }, () => 1);
    await eventually(() => service.of('POST', '/v1/apps/manifest').length === 2);
    takeAway();
    await eventually(() => service.of('POST', '/v1/apps/manifest').length === 3);
    assert.deepEqual(manifests(service.of('POST', '/v1/apps/manifest')), [[], ['look', 'find'], ['find']]);
  });

  test('what the service took of this browser is not sent again: not by the next page, nor when actions are declared late', async (t) => {
    const start = (kept?: KeptValues) => startScriptedAssistant(t, { 'POST /v1/chat': answered }, {}, kept);
    const declare = async ({ assistant, service }: ScriptedAssistant, count: number) => {
      await eventually(() => service.of('POST', '/v1/apps/manifest').length === count || service.of('GET', '/v1/apps/config').length === 1);
      assistant.registerAction({ name: 'look', description: 'Looks.' }, () => 1);
    };
    const name = `assistant:${KEY}:manifest`;
    const first = await start();
    await declare(first, 1);
    await eventually(() => first.service.of('POST', '/v1/apps/manifest').length === 2);
    await eventually(async () => ((await first.kept.read(name)) ?? '').includes('look'));
    const second = await start(first.kept);
    await declare(second, 0);
    second.assistant.conversation.say('Is it so?');
    await second.until(() => second.turn().phase === 'completed');
    assert.deepEqual(second.service.of('POST', '/v1/apps/manifest'), []);
    assert.equal(second.turn().request?.client.manifest_hash, 'a'.repeat(64));
    second.assistant.registerAction({ name: 'look', description: 'Looks again.' }, () => 1);
    await eventually(() => second.service.of('POST', '/v1/apps/manifest').length === 1);
    const kept = JSON.parse((await first.kept.read(name)) ?? '') as { atMs: number }[];
    await first.kept.write(name, JSON.stringify(kept.map((each) => ({ ...each, atMs: each.atMs - 5 * 60_000 }))));
    const later = await start(first.kept);
    later.assistant.registerAction({ name: 'look', description: 'Looks.' }, () => 1);
    await eventually(() => later.service.of('POST', '/v1/apps/manifest').length === 1);
  });

  test('a turn names it, waits for it as long as for a request, and goes without then', async (t) => {
    const quick = await startScriptedAssistant(t, { 'POST /v1/chat': answered });
    quick.assistant.conversation.say('Is it so?');
    await quick.until(() => quick.turn().phase === 'completed');
    assert.equal(quick.turn().request?.client.manifest_hash, 'a'.repeat(64));
    const slow = await startScriptedAssistant(t, { 'POST /v1/chat': answered, 'POST /v1/apps/manifest': () => {} });
    slow.assistant.conversation.say('Is it so?');
    await slow.until(() => slow.turn().phase === 'completed');
    assert.equal(slow.turn().request?.client.manifest_hash, undefined);
  });

  test('it is registered again when the service does not know it, and the turn goes on by itself, once', async (t) => {
    let isKnown = true;
    const { assistant, service, turn, until } = await startScriptedAssistant(t, {
      'POST /v1/chat': (response, asked, n) => {
        if (n > 0 && isKnown) return answered(response, asked, n);
        tell(response, [
          { type: 'error', code: 'manifest_unknown', message: 'Which?', retryable: false },
          { type: 'turn.end', status: 'error' },
        ]);
        response.end();
      },
    });
    await until(() => service.of('POST', '/v1/apps/manifest').length === 1);
    assistant.conversation.say('Is it so?');
    await until(() => turn().phase === 'completed');
    assert.equal(service.of('POST', '/v1/apps/manifest').length, 2);
    const [first, second] = service.of('POST', '/v1/chat');
    assert.equal(first?.body, second?.body);
    isKnown = false;
    assistant.conversation.say('And now?');
    await until(() => turn().phase === 'failed');
    assert.equal(service.of('POST', '/v1/chat').length, 4);
  });

  test('one that is rejected is told, and turns go without it', async (t) => {
    const { assistant, log, turn, until } = await startScriptedAssistant(t, {
      'POST /v1/chat': answered,
      'POST /v1/apps/manifest': (response) => sendJson(response, 400, refusal('invalid_request')),
    });
    assistant.conversation.say('Is it so?');
    await until(() => turn().phase === 'completed');
    assert.equal(log.filter(({ code }) => code === 'manifest_rejected').length, 1);
  });
});

describe('CLIENT-24: what surrounds a question', () => {
  const loop: Record<string, unknown> = {};
  loop.loop = loop;
  const screen = { name: 'cart' };
  const CASES: readonly (readonly [string, () => unknown, unknown, string | undefined])[] = [
    [
      'goes with it',
      () => ({ app_state: { items: 2 }, current_screen: screen }),
      { app_state: { items: 2 }, current_screen: screen },
      undefined,
    ],
    ['is left out where it is no JSON', () => ({ app_state: loop }), undefined, 'context_invalid'],
    ['is left out where it is no object', () => 'cart', undefined, 'context_invalid'],
    [
      'goes without a screen that is a string',
      () => ({ app_state: { items: 2 }, current_screen: 'cart' }),
      { app_state: { items: 2 } },
      'context_invalid',
    ],
    [
      'goes without a state that is too large',
      () => ({ app_state: 'x'.repeat(8 * 1024), current_screen: screen }),
      { current_screen: screen },
      'context_invalid',
    ],
    ['is left out where it comes too late', () => new Promise(() => {}), undefined, 'context_timeout'],
    [
      'is left out where it cannot be had',
      () => {
        throw new Error('There is no cart.');
      },
      undefined,
      'context_error',
    ],
  ];
  for (const [name, context, wanted, code] of CASES) {
    test(name, async (t) => {
      const options = { context: context as () => TurnContext };
      const { assistant, service, turn, until, log } = await startScriptedAssistant(t, { 'POST /v1/chat': answered }, options);
      assistant.conversation.say('What is in it?');
      await until(() => turn().phase === 'completed');
      assert.deepEqual((JSON.parse(service.of('POST', '/v1/chat')[0]?.body ?? '') as { context?: unknown }).context, wanted);
      assert.deepEqual(
        log.map((record) => record.code).filter((each) => each.startsWith('context')),
        code === undefined ? [] : [code],
      );
    });
  }
});

test('CLIENT-24: a fault of the context is told once, with its path and the reason', async (t) => {
  const options = { context: () => ({ current_screen: 'cart' }) as unknown as TurnContext };
  const { assistant, turn, until, log } = await startScriptedAssistant(t, { 'POST /v1/chat': answered }, options);
  for (const text of ['What is in it?', 'And now?']) {
    assistant.conversation.say(text);
    await until(() => turn().phase === 'completed' && turn().payload.message?.text === text);
  }
  assert.deepEqual(
    log.filter(({ code }) => code === 'context_invalid').map(({ message, details }) => [message, details]),
    [['context.current_screen must be an object: it was left out of the message', { path: 'current_screen', reason: 'must be an object' }]],
  );
});

test('CLIENT-30: the log has the message and the details of every request that was refused, and what the service warns of once', async (t) => {
  const details = [{ path: 'message.text', message: 'must be a string' }];
  const refused: Answer = (response) =>
    sendJson(response, 400, { error: { code: 'invalid_request', message: 'message.text must be a string', details } });
  const warned: Answer = (response, asked, n) => {
    response.setHeader('X-Service-Warning', 'unknown field contxt');
    (n < 2 ? answered : refused)(response, asked, n);
  };
  const { assistant, turn, until, log } = await startScriptedAssistant(t, {
    'POST /v1/chat': warned,
    'POST /v1/identify': refused,
    'POST /v1/uploads': refused,
    'POST /v1/feedback': refused,
    'POST /v1/pairings/claim': refused,
    'GET /v1/conversations': refused,
    'POST /v1/events': refused,
  });
  for (const text of ['One', 'Two', 'Three']) {
    assistant.conversation.say(text);
    await until(() => turn().payload.message?.text === text && turn().phase === (text === 'Three' ? 'failed' : 'completed'));
  }
  await assert.rejects(assistant.identify({ id: 'u_1' }));
  await assert.rejects(assistant.upload(new Blob(['x']), 'a.txt'));
  await assert.rejects(assistant.conversation.opinions.thumb('msg_1', 1));
  await assert.rejects(assistant.pair('7K2M9QXA'));
  await assert.rejects(assistant.list());
  assistant.track({ name: 'opened' });
  await until(() => log.some(({ code }) => code === 'events_dropped'));
  for (const code of [
    'turn_failed',
    'identify_failed',
    'upload_failed',
    'feedback_failed',
    'pairing_failed',
    'history_failed',
    'events_dropped',
  ]) {
    const told = log.find((record) => record.code === code)?.details;
    assert.deepEqual(
      [told?.code, told?.status, told?.message, told?.details],
      ['invalid_request', 400, 'message.text must be a string', details],
      code,
    );
  }
  assert.deepEqual(
    log.filter(({ code }) => code === 'warning').map(({ message }) => message),
    ['unknown field contxt'],
  );
});

test('CLIENT-26: whoever subscribes and throws stops nothing: the answer is whole, others are told, and the log says so', async (t) => {
  const reply = { upload_id: 'upl_1', name: 'a.txt', media_type: 'text/plain', size: 5, expires_at: '2026-11-22T00:00:00.000Z' };
  const script = { 'POST /v1/chat': answered, 'POST /v1/uploads': ((response) => sendJson(response, 200, reply)) as Answer };
  const { assistant, turn, until, log } = await startScriptedAssistant(t, script);
  const fail = (): never => {
    throw new Error('Mine.');
  };
  const { store } = assistant.conversation;
  let told = 0;
  const count = (): void => {
    told += 1;
  };
  const threw = (): number => log.filter(({ code, details }) => code === 'subscriber_error' && details?.error instanceof Error).length;
  const throwing = [
    () => store.subscribe(fail),
    () => store.subscribe({ next: fail }),
    () => store.select(({ turns }) => turns.length).subscribe(fail),
    () => store.on('keep', fail),
    () => store.inspect(fail),
    () => assistant.app.subscribe(fail),
    () => assistant.onConversation(fail),
  ];
  for (const subscribe of throwing) subscribe();
  store.subscribe(count);
  store.on('keep', count);
  assistant.onConversation(count);
  assistant.conversation.say('Is it so?');
  await until(() => turn().phase === 'completed');
  await until(() => assistant.app.get().context.availability === 'available');
  assert.ok(told > 5 && threw() > told, `${told} told, ${threw()} threw`);
  assert.equal((await assistant.upload(new Blob(['Hello']), 'a.txt', { onProgress: fail })).upload_id, 'upl_1');
  assistant.open();
  assert.notEqual(assistant.conversation.store, store);
});

test('CLIENT-17: a file is sent, tells how far it is, and is sent again where the service says when', async (t) => {
  const { assistant, service, until } = await startScriptedAssistant(t, {
    'POST /v1/uploads': (response, _asked, n) => {
      if (n === 0) sendJson(response, 503, refusal('uploads_unavailable'), { 'Retry-After': '5' });
      else
        sendJson(response, 200, {
          upload_id: 'upl_1',
          name: 'a.txt',
          media_type: 'text/plain',
          size: 5,
          expires_at: '2026-11-22T00:00:00.000Z',
        });
    },
  });
  const shares: number[] = [];
  const sent = assistant.upload(new Blob(['Hello']), 'a.txt', { onProgress: (share) => shares.push(share) });
  await until(() => service.of('POST', '/v1/uploads').length === 2);
  assert.equal((await sent).upload_id, 'upl_1');
  assert.deepEqual(shares, [0, 1, 0, 1]);
  assert.match(String(service.of('POST', '/v1/uploads')[1]?.body), /name="file"; filename="a\.txt"[\s\S]*Hello/);
});

test('CLIENT-15: telemetry goes in batches, and what cannot be sent is thrown away', async (t) => {
  const { assistant, service, clock, log } = await startScriptedAssistant(t, {
    'POST /v1/events': (response, _asked, n) => (n === 0 ? sendJson(response, 503, refusal('internal')) : response.writeHead(204).end()),
  });
  await assistant.ready;
  for (let n = 0; n < 210; n++) assistant.track({ name: 'opened' });
  assert.equal(log.filter(({ code }) => code === 'events_dropped').length, 10);
  for (const batches of [1, 2, 3, 4]) {
    await eventually(() => clock.waitingMs.includes(10_000));
    clock.pass(10_000);
    await eventually(() => service.of('POST', '/v1/events').length === batches);
  }
  const sizes = service.of('POST', '/v1/events').map(({ body }) => (JSON.parse(body) as { events: unknown[] }).events.length);
  assert.deepEqual(sizes, [50, 50, 50, 50]);
});

test('CLIENT-10, CLIENT-19: handlers answer in their time, and four messages are one too many', async (t) => {
  const pending = ['look', 'break', 'sleep', 'nowhere'].map((name) => ({
    invocation_id: `inv_${name}`,
    name,
    params: {},
    risk: 'read' as const,
    timeout_ms: 1_000,
    executor: 'client' as const,
  }));
  const { assistant, service, turn, until } = await startScriptedAssistant(t, {
    'POST /v1/chat': (response, asked, n) => {
      if (n > 0) answered(response, asked, n);
      else {
        tell(response, [...ANSWER.slice(0, -1), { type: 'turn.end', status: 'awaiting_tool_results', pending }]);
        response.end();
      }
    },
  });
  assistant.registerAction({ name: 'look', description: 'Looks.' }, () => ({ found: true }));
  assistant.registerAction({ name: 'break', description: 'Breaks.' }, () => {
    throw new Error('The shelf is gone.');
  });
  assistant.registerAction({ name: 'sleep', description: 'Sleeps.' }, () => new Promise(() => {}));
  const { conversation } = assistant;
  conversation.say('Look, please.');
  await until(() => turn().phase === 'completed');
  const { tool_results: results } = JSON.parse(service.of('POST', '/v1/chat')[1]?.body ?? '') as { tool_results: object[] };
  assert.deepEqual(results, [
    { invocation_id: 'inv_look', status: 'ok', result: { found: true } },
    { invocation_id: 'inv_break', status: 'error', error: 'The shelf is gone.' },
    { invocation_id: 'inv_sleep', status: 'timeout' },
    { invocation_id: 'inv_nowhere', status: 'unavailable' },
  ]);
  for (let n = 0; n < 4; n++) conversation.say('More.');
  assert.throws(() => conversation.say('One too many.'), { name: 'ClientError' });
});
