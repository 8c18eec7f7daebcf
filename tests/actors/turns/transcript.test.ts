import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { readTranscript } from '../../../actors/turns/transcript.ts';
import type { InvocationState } from '../../../protocol/runtime/states.ts';
import { insertBlocks } from '../../../storage/conversations/blocks.ts';
import { insertMessage } from '../../../storage/conversations/conversations.ts';
import { insertInvocations } from '../../../storage/conversations/invocations.ts';
import { storeTurn } from '../../storage/conversations/stored-turns.ts';
import { addApp, openFiles } from '../../storage/migrations/migrated-files.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const CONVERSATION = 'cnv_1';

/** A conversation that is written as it is told. */
function conversation(t: TestContext) {
  const files = openFiles(t, NOW_MS);
  const { db } = files;
  const appId = addApp(files, 'Corner Shop', NOW_MS);
  let said = 0;
  let unanswered: number | undefined;
  const turns = new Map<string, number>();
  db.statement(
    `INSERT INTO conversations (id, app_id, channel, device_id, epoch, created_at_ms, updated_at_ms)
     VALUES (:id, :appId, 'live', 'device', 1, :nowMs, :nowMs)`,
  ).run({ id: CONVERSATION, appId, nowMs: NOW_MS });

  function say(role: 'user' | 'assistant', blocks: readonly { type: string; body: Record<string, unknown> }[]): string {
    const id = `msg_${said++}`;
    const asked = role === 'assistant' ? unanswered : undefined;
    const turn = asked ?? storeTurn(db, { appId, conversationId: CONVERSATION, turnId: id, deviceId: 'device', atMs: NOW_MS });
    unanswered = role === 'user' ? turn : undefined;
    turns.set(id, turn);
    insertMessage(db, { id, conversationId: CONVERSATION, turn, role, createdAtMs: NOW_MS + said });
    const rows = blocks.map(({ type, body }, position) => {
      return { id: `${id}_${position}`, position, blockType: type, revision: 1, body: JSON.stringify(body), fallbackText: null };
    });
    insertBlocks(db, CONVERSATION, id, rows);
    return id;
  }

  function call(messageId: string, state: InvocationState, risk: 'read' | 'write' = 'read', expiresAtMs: number | null = null): void {
    const turn = turns.get(messageId) ?? 0;
    insertInvocations(db, { appId, conversationId: CONVERSATION, turn, messageId, nowMs: NOW_MS }, [
      {
        id: `inv_${messageId}`,
        callId: `call_${messageId}`,
        name: 'find_order',
        params: '{"order_id":"A-1"}',
        risk,
        executor: 'client',
        timeoutMs: 1_000,
        state,
        blockId: null,
        expiresAtMs,
      },
    ]);
    db.statement('UPDATE invocations SET result = :result, error = :error WHERE id = :id').run({
      id: `inv_${messageId}`,
      result: '{"status":"sent"}',
      error: 'no such order',
    });
  }

  const text = (role: 'user' | 'assistant', md: string) => say(role, [{ type: 'text', body: { md } }]);
  return { say, text, call, read: () => readTranscript(db, CONVERSATION, NOW_MS).messages };
}

describe('the model reads a conversation as it was stored', () => {
  test('HISTORY-9: messages oldest first; components as the calls that they were, with what the person chose; confirmation cards left out', (t) => {
    const { say, text, read } = conversation(t);
    text('user', 'What do you have?');
    say('assistant', [
      { type: 'text', body: { md: 'These:' } },
      { type: 'tags', body: { items: [{ id: 'a', label: 'Apples' }] } },
      {
        type: 'choice',
        body: { prompt: 'Which?', mode: 'single', options: [{ id: 'b', label: 'Black' }], status: 'answered', selected_ids: ['b'] },
      },
      {
        type: 'item_list',
        body: {
          layout: 'list',
          items: Array.from({ length: 20 }, (_, n) => ({
            id: `i${n}`,
            title: 'x'.repeat(500),
            url: `https://a.example/${'y'.repeat(200)}`,
          })),
        },
      },
      { type: 'confirm_card', body: {} },
    ]);
    text('user', 'Thanks');
    const cut = { layout: 'list', items: Array.from({ length: 6 }, (_, n) => ({ id: `i${n}`, title: `${'x'.repeat(332)}…` })) };
    assert.deepEqual(read(), [
      { role: 'user', content: 'What do you have?' },
      {
        role: 'assistant',
        content: 'These:',
        toolCalls: [
          { id: 'msg_1_1', name: 'tags', arguments: '{"items":[{"id":"a","label":"Apples"}]}' },
          { id: 'msg_1_2', name: 'choice', arguments: '{"prompt":"Which?","mode":"single","options":[{"id":"b","label":"Black"}]}' },
          { id: 'msg_1_3', name: 'item_list', arguments: JSON.stringify(cut) },
        ],
      },
      { role: 'tool', toolCallId: 'msg_1_1', name: 'tags', content: 'Shown.' },
      { role: 'tool', toolCallId: 'msg_1_2', name: 'choice', content: 'Shown. The person chose Black.' },
      { role: 'tool', toolCallId: 'msg_1_3', name: 'item_list', content: 'Shown. Its end is left out here.' },
      { role: 'user', content: 'Thanks' },
    ]);
  });

  test('HISTORY-9: a conversation nobody spoke in is empty, and an answer without a word is left out', (t) => {
    const { say, read } = conversation(t);
    assert.deepEqual(read(), []);
    say('assistant', []);
    assert.deepEqual(read(), []);
  });

  test('HISTORY-9: a call stands with the message that made it, its result fenced right behind', (t) => {
    const { text, call, read } = conversation(t);
    text('user', 'Where is it?');
    call(text('assistant', 'One moment.'), 'succeeded');
    const [, asked, answered] = read();
    assert.deepEqual(asked, {
      role: 'assistant',
      content: 'One moment.',
      toolCalls: [{ id: 'call_msg_1', name: 'find_order', arguments: '{"order_id":"A-1"}' }],
    });
    assert.ok(answered?.role === 'tool');
    assert.deepEqual([answered.toolCallId, answered.name], ['call_msg_1', 'find_order']);
    assert.match(answered.content, /^<<data:([0-9a-f]{12}) result of find_order>>\n\{"status":"sent"\}\n<<end:\1>>$/);
  });

  for (const [state, risk, told] of [
    ['failed', 'read', /find_order failed: <<data:[0-9a-f]{12} error>>\nno such order/],
    ['declined', 'write', /declined find_order\. It was not done/],
    ['expired', 'write', /Nobody confirmed find_order in time\. It was not done/],
    ['timed_out', 'read', /did not answer in time/],
    ['unknown', 'write', /not known whether find_order was done.*do not call it again/],
    ['confirmed', 'write', /was confirmed and is being done/],
    ['executing', 'write', /was confirmed and is being done/],
    ['pending.clean', 'write', /A card for find_order .* waits for its button\. It has not been done.*Do not call it again/],
    ['pending.rejected', 'write', /A card for find_order .* waits for its button\. It has not been done.*Do not call it again/],
    ['dispatched', 'read', /has not answered/],
  ] as const) {
    test(`HISTORY-9: a ${risk} call that is ${state} is told as just that, without a result`, (t) => {
      const { text, call, read } = conversation(t);
      call(text('assistant', 'One moment.'), state, risk);
      const content = read().at(-1)?.content ?? '';
      assert.match(content, told);
      assert.doesNotMatch(content, /"status":"sent"/);
    });
  }
});

test('ACTION-6, HISTORY-9: a call whose time is up is told as such before its row says so', (t) => {
  const { text, call, read } = conversation(t);
  call(text('assistant', 'One moment.'), 'dispatched', 'read', NOW_MS);
  assert.match(read().at(-1)?.content ?? '', /did not answer in time/);
  call(text('assistant', 'Shall I?'), 'pending.clean', 'write', NOW_MS + 1);
  assert.match(read().at(-1)?.content ?? '', /waits for its button/);
});

describe('what is remembered is bounded', () => {
  test('HISTORY-9: the newest 40 messages', (t) => {
    const { text, read } = conversation(t);
    for (let index = 0; index < 50; index++) text('user', `message ${index}`);
    const contents = read().map(({ content }) => content);
    assert.equal(contents.length, 40);
    assert.deepEqual([contents[0], contents.at(-1)], ['message 10', 'message 49']);
  });

  test('HISTORY-9: 48,000 characters, and the newest message whatever its length', (t) => {
    const { text, read } = conversation(t);
    for (const letter of ['a', 'b', 'c']) text('user', letter.repeat(20_000));
    assert.deepEqual(
      read().map(({ content }) => content[0]),
      ['b', 'c'],
    );
    text('user', 'd'.repeat(60_000));
    assert.deepEqual(
      read().map(({ content }) => content[0]),
      ['d'],
    );
  });
});
