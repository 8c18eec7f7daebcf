/** What fails beside the running program, each kind as a real server fails, and what somebody reads of it who has only the console. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodesAnswer } from '../../protocol/console/answers.ts';
import { gate, type ScriptedChat, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { eventually } from '../support/eventually.ts';
import { readMetrics } from '../support/process.ts';
import type { Play } from '../support/upstream.ts';

const FAILURES = 5;
/** Nothing listens there. */
const NOWHERE = '127.0.0.1:9';

async function held({ operator }: ScriptedChat, name: string) {
  const { conditions } = (await operator('GET', '/nodes')).json as NodesAnswer;
  return conditions.find(({ condition }) => condition === name);
}

async function aboutApp(chat: ScriptedChat) {
  return (await held(chat, 'model_failing'))?.about?.find(({ id }) => id === chat.app.appId);
}

async function newestCause({ operator, app }: ScriptedChat) {
  const { conversations } = (await operator('GET', `/apps/${app.appId}/conversations`)).json as {
    conversations: readonly { readonly turn_failure: { readonly cause?: { readonly kind: string } } | null }[];
  };
  return conversations[0]?.turn_failure?.cause?.kind;
}

const failAll = (chat: ScriptedChat) => Promise.all(Array.from({ length: FAILURES }, () => chat.say('Where is my order?')));

const refused = (status: number, code: string): Play => ({ status, body: { error: { message: 'No.', type: code, code } } });

test('RUN-35, CONSOLE-29, CONSOLE-30: each way in which a model’s server fails is a condition that names the app and says what to do; the next answer ends it', async (t) => {
  const silence = gate();
  t.after(silence.open);
  const faults: readonly (readonly [kind: string, plays: readonly Play[], says: RegExp])[] = [
    ['misconfigured', [refused(401, 'invalid_api_key')], /status 401 invalid_api_key: No\. Check OPENAI_API_KEY\.$/],
    ['exhausted', [refused(429, 'insufficient_quota')], /status 429 insufficient_quota: No\. Its account has to be paid/],
    ['broken', [{ text: 'It left on ' }, { reset: true }], /UND_ERR_SOCKET|ECONNRESET/],
    ['silent', [{ wait: silence.wait }], /nothing came for 5000 ms\. Raise MODEL_SILENCE_S/],
  ];
  const chat = await startScriptedChat(t, { env: { MODEL_SILENCE_S: '5' } });
  for (const [kind, plays, says] of faults) {
    chat.script(...Array.from({ length: FAILURES }, () => plays), [{ text: 'Well again.' }]);
    await failAll(chat);
    const about = await aboutApp(chat);
    assert.deepEqual([about?.name, about?.organisation], ['Test app', 'Test'], kind);
    assert.match(String(about?.detail), says);
    assert.match(String(about?.detail), new RegExp(`all failed \\(${kind}\\)`));
    assert.equal(await newestCause(chat), kind);
    assert.ok(((await readMetrics(chat.service.baseUrl)).get('assistant_conditions{condition="model_failing"}') ?? 0) > 0);
    await chat.say('And now?');
    assert.equal(await held(chat, 'model_failing'), undefined, kind);
  }
});

test('RUN-35: a model’s address at which nothing listens is a condition of the app, since the first turn that it failed', async (t) => {
  const chat = await startScriptedChat(t, { env: { OPENAI_BASE_URL: `http://${NOWHERE}/v1` } });
  await chat.say('Where is my order?');
  const afterFirst = new Date().toISOString();
  await failAll(chat);
  const about = await aboutApp(chat);
  assert.match(String(about?.detail), /ECONNREFUSED\. Check OPENAI_BASE_URL, and whether the server is up\.$/);
  assert.ok(String(about?.since) <= afterFirst, `${about?.since} is after ${afterFirst}`);
});

test('RUN-35, LIMIT-26: mails that no mail server takes are a condition as soon as five wait', async (t) => {
  // A turn of 100 tokens costs 4.10 of the 5 USD that the plan has.
  const env = { SMTP_URL: `smtp://${NOWHERE}`, MODEL_PRICES: '{"scripted":{"input":41000,"output":0}}' };
  const chat = await startScriptedChat(t, { env });
  const members = Array.from({ length: FAILURES }, (_, n) => ({ email: `member-${n}@example.com` }));
  const changed = await chat.operator('PATCH', `/orgs/${chat.app.organisationId}`, { plan: 'free', members });
  assert.equal(changed.status, 200, changed.text);
  chat.script([{ text: 'Dear.' }]);
  await chat.say('Hello');
  await eventually(async () => /check SMTP_URL/.test(String((await held(chat, 'mail_failing'))?.detail)));
  const ends = (await held(chat, 'credit_ends'))?.about?.[0];
  assert.deepEqual([ends?.id, ends?.name], [chat.app.organisationId, 'Test']);
});
