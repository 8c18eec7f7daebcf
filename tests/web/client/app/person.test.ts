/** Who is signed in: their device, their token, and how one person follows another, against a scripted service. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Assistant } from '../../../../web/client/assistant.ts';
import { threadOf } from '../../../../web/client/conversation/thread.ts';
import type { ClientError } from '../../../../web/client/transport/failure.ts';
import { ANSWER, startScriptedAssistant } from '../scripted-assistant.ts';
import { type Answer, type Asked, sendJson, tell } from '../scripted-service.ts';

const answered: Answer = (response) => {
  tell(response, ANSWER);
  response.end();
};
const refusal = (code: string, message = 'No.') => ({ error: { code, message } });

describe('CLIENT-16: who is signed in', () => {
  const identified: Answer = (response) => sendJson(response, 200, { end_user_id: 'usr_1', verified: true });
  const ADA = { id: 'u_1', hmac: 'b'.repeat(64) };

  test('a person keeps what nobody said before, and names themselves from then on', async (t) => {
    const { assistant, turn, until } = await startScriptedAssistant(t, { 'POST /v1/chat': answered, 'POST /v1/identify': identified });
    assistant.conversation.say('Is it so?');
    await until(() => turn().phase === 'completed');
    const before = assistant.conversation;
    assert.deepEqual(await assistant.identify(ADA), { end_user_id: 'usr_1', verified: true });
    assert.equal(assistant.conversation, before);
    assistant.conversation.say('And now?');
    await until(() => turn().phase === 'completed');
    assert.deepEqual(turn().request?.user, ADA);
  });

  test('another person begins anew, and so does nobody', async (t) => {
    const { assistant, service } = await startScriptedAssistant(t, { 'POST /v1/identify': identified }, { user: ADA });
    const opened: unknown[] = [];
    assistant.onConversation((conversation) => opened.push(conversation));
    const first = assistant.conversation;
    await assistant.identify(ADA);
    assert.equal(assistant.conversation, first);
    await assistant.identify({ id: 'u_2' });
    assert.notEqual(assistant.conversation, first);
    await assistant.signOut();
    assert.equal(opened.length, 2);
    assert.equal(service.of('POST', '/v1/identify')[0]?.headers['x-service-user'], `u_1:${ADA.hmac}`);
  });

  const BEN = { id: 'u_2', hmac: 'c'.repeat(64) };
  const deviceOf = (asked: Asked | undefined) => asked?.headers['x-service-device'];
  const userOf = ({ body }: Asked): unknown => (JSON.parse(body) as { user?: unknown }).user;

  /** Ada has said something, with her token, and Ben comes. */
  async function afterAda(t: TestContext, identifying: Answer, more: Readonly<Record<string, Answer>> = {}) {
    const started = await startScriptedAssistant(
      t,
      { 'POST /v1/chat': answered, 'POST /v1/identify': identifying, ...more },
      { user: ADA, userToken: 'adas' },
    );
    const { assistant, turn, until } = started;
    assistant.conversation.say('Mine alone.');
    await until(() => turn().phase === 'completed');
    return { ...started, thread: () => threadOf(assistant.conversation.store.get().context) };
  }

  for (const [name, refuse, code] of [
    ['is refused', (response) => sendJson(response, 403, refusal('invalid_request', 'The signature is wrong.')), 'invalid_request'],
    ['cannot be reached', (response) => response.destroy(), 'unreachable'],
    ['is away', (response) => sendJson(response, 503, refusal('internal')), 'internal'],
  ] as const satisfies readonly (readonly [string, Answer, string])[]) {
    test(`CLIENT-25, CLIENT-27: another person whose sign-in ${name} sees and sends nothing of the one before, and is nobody`, async (t) => {
      const { assistant, service, thread, turn, until, kept } = await afterAda(t, refuse);
      const before = assistant.conversation;
      let failure: unknown;
      const rejected = assistant.identify(BEN).catch((error: ClientError) => {
        failure = error.failure.code;
      });
      await until(() => service.of('POST', '/v1/identify').length > 0);
      assert.notEqual(assistant.conversation, before);
      assert.deepEqual(thread(), [], 'while nobody knows whether he is bound');
      assistant.setUserToken('bens');
      assistant.conversation.say('Who am I?');
      await until(() => failure === code);
      await rejected;
      await until(() => turn().phase === 'completed');
      const [adas, bens] = service.of('POST', '/v1/chat');
      assert.deepEqual([userOf(adas as Asked), userOf(bens as Asked)], [ADA, null]);
      assert.deepEqual(
        [adas, bens].map((asked) => asked?.headers['x-service-user-token']),
        ['adas', undefined],
      );
      assert.notEqual(deviceOf(bens), deviceOf(adas));
      assert.equal(
        service.of('POST', '/v1/identify').every((asked) => deviceOf(asked) === deviceOf(bens)),
        true,
      );
      const page = await startScriptedAssistant(t, {}, { user: ADA }, kept);
      await page.assistant.ready;
      assert.deepEqual(page.assistant.conversation.store.get().context.turns, [], 'nor does a page that is opened next');
    });
  }

  test('CLIENT-27: until another person is bound nothing is sent; then it goes as theirs, with their own token', async (t) => {
    const held: (() => void)[] = [];
    const { assistant, service, thread, turn, until } = await afterAda(t, (response, asked, n) => {
      held.push(() => identified(response, asked, n));
    });
    const bound = assistant.identify({ ...BEN, userToken: 'bens' });
    await until(() => held.length === 1);
    assistant.conversation.say('Hello.');
    const listed = assert.rejects(assistant.list());
    await until(() => thread().length === 1);
    assert.deepEqual([service.of('POST', '/v1/chat').length, service.of('GET', '/v1/conversations').length], [1, 0]);
    held[0]?.();
    await bound;
    await until(() => turn().phase === 'completed');
    await listed;
    const [, bens] = service.of('POST', '/v1/chat');
    assert.deepEqual([userOf(bens as Asked), bens?.headers['x-service-user-token']], [BEN, 'bens']);
    assert.equal(deviceOf(bens), deviceOf(service.of('POST', '/v1/identify')[0]));
  });

  test('of sign-ins that overtake each other the last counts, whichever is answered last', async (t) => {
    const held: (() => void)[] = [];
    const { assistant, service, turn, until } = await afterAda(t, (response, asked, n) => {
      held.push(() => identified(response, asked, n));
    });
    const overtaken = assistant.identify({ ...BEN, userToken: 'bens' });
    await until(() => held.length === 1);
    const last = assistant.identify({ id: 'u_3' });
    await assert.rejects(overtaken, ({ failure }: ClientError) => failure.code === 'unusable');
    await until(() => held.length === 2);
    held[1]?.();
    held[0]?.();
    await last;
    assistant.conversation.say('Who am I?');
    await until(() => turn().phase === 'completed');
    const asked = service.of('POST', '/v1/chat')[1];
    assert.deepEqual([userOf(asked as Asked), asked?.headers['x-service-user-token']], [{ id: 'u_3' }, undefined]);
    assert.equal(new Set([...service.of('POST', '/v1/identify'), service.of('POST', '/v1/chat')[0]].map(deviceOf)).size, 3);
    void assistant.identify(BEN).catch(() => {});
    await assistant.signOut();
    assert.deepEqual(assistant.conversation.store.get().context.turns, []);
  });

  test('CLIENT-25: a page that does not say who it is leaves the person of its device as well', async (t) => {
    const script = { 'POST /v1/chat': answered, 'POST /v1/identify': identified };
    const first = await startScriptedAssistant(t, script);
    await first.assistant.identify(ADA);
    for (const leave of [(assistant: Assistant) => assistant.identify(BEN), (assistant: Assistant) => assistant.signOut()]) {
      const { assistant, turn, until, service } = await startScriptedAssistant(t, script, {}, first.kept);
      assistant.conversation.say('As whoever I am.');
      await until(() => turn().phase === 'completed');
      await leave(assistant);
      assert.deepEqual(assistant.conversation.store.get().context.turns, []);
      assistant.conversation.say('And now?');
      await until(() => turn().phase === 'completed');
      assert.equal(new Set(service.of('POST', '/v1/chat').map(deviceOf)).size, 2);
    }
  });

  test('a refused first sign-in, and one of the same person, change nothing', async (t) => {
    const { assistant, log } = await startScriptedAssistant(t, {
      'POST /v1/identify': (response) => sendJson(response, 403, refusal('invalid_request', 'The signature is wrong.')),
    });
    const before = assistant.conversation;
    await assert.rejects(assistant.identify(ADA), ({ failure }: ClientError) => failure.status === 403);
    assert.equal(assistant.conversation, before);
    assert.ok(log.some(({ code }) => code === 'identify_failed'));
  });
});

describe('CLIENT-27: the person’s own token', () => {
  /** A JWT that is over after so long. */
  const jwt = (nowMs: number, leftMs: number): string =>
    `e30.${Buffer.from(JSON.stringify({ sub: 'Jörg', exp: (nowMs + leftMs) / 1000 })).toString('base64url')}.sig`;
  const said = (service: { of(method: string, path: string): readonly Asked[] }) =>
    service.of('POST', '/v1/chat').map(({ headers }) => headers['x-service-user-token']);

  test('a function is asked once for a token that holds, and again a minute before a JWT is over', async (t) => {
    const given: string[] = [];
    const options = {
      userToken: async () => {
        given.push(jwt(clock.nowMs(), 300_000));
        return given.at(-1);
      },
    };
    const started = await startScriptedAssistant(t, { 'POST /v1/chat': answered }, options);
    const { assistant, service, turn, until } = started;
    const clock = started.clock;
    for (const passMs of [0, 200_000, 50_000]) {
      clock.pass(passMs);
      assistant.conversation.say('Where is my order?');
      await until(() => turn().phase === 'completed');
    }
    assert.deepEqual([said(service), given.length], [[given[0], given[0], given[1]], 2]);
  });

  test('it is asked again after an action was answered 401, and for every try of a turn', async (t) => {
    let n = 0;
    const refused: Answer = (response, _asked, at) => {
      tell(response, [
        ...ANSWER.slice(0, -1),
        { type: 'turn.end', status: 'completed', ...(at === 0 ? { user_token_refused: true } : {}) },
      ]);
      response.end();
    };
    const { assistant, service, turn, until } = await startScriptedAssistant(
      t,
      { 'POST /v1/chat': refused },
      { userToken: () => `token-${++n}` },
    );
    for (let times = 0; times < 3; times++) {
      assistant.conversation.say('Where is my order?');
      await until(() => turn().phase === 'completed');
    }
    assert.deepEqual(said(service), ['token-1', 'token-2', 'token-2']);
  });

  for (const [name, userToken] of [
    ['throws', () => Promise.reject(new Error('Signed out.'))],
    ['never answers', () => new Promise<string>(() => {})],
  ] as const) {
    test(`where it ${name} the turn goes without one, and the log says so`, async (t) => {
      const { assistant, service, turn, until, log } = await startScriptedAssistant(t, { 'POST /v1/chat': answered }, { userToken });
      assistant.conversation.say('Where is my order?');
      await until(() => turn().phase === 'completed');
      assert.deepEqual([said(service), log.filter(({ code }) => code === 'user_token_failed').length], [[undefined], 1]);
    });
  }

  test('it stays with the person: the first who signs in, and the same one again', async (t) => {
    const identified: Answer = (response) => sendJson(response, 200, { end_user_id: 'usr_1', verified: true });
    const script = { 'POST /v1/chat': answered, 'POST /v1/identify': identified };
    const { assistant, service, turn, until } = await startScriptedAssistant(t, script, { userToken: 'first' });
    const say = async () => {
      assistant.conversation.say('Where is my order?');
      await until(() => turn().phase === 'completed');
    };
    await assistant.identify({ id: 'u_1' });
    await say();
    void assistant.identify({ id: 'u_1' });
    assistant.setUserToken('second');
    await say();
    void assistant.identify({ id: 'u_2' });
    assistant.setUserToken(async () => 'third');
    await say();
    await assistant.signOut();
    await say();
    assert.deepEqual(said(service), ['first', 'second', 'third', undefined]);
  });
});
