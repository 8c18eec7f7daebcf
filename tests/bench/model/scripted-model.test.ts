/** The models that call something: what they answer to which request, and what they refuse. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fence, passageWords } from '../../../assistant/fence.ts';
import {
  LIST_ACTION_MODEL,
  LIST_COMPONENT,
  NotInScript,
  READ_ACTION,
  SEARCH_MODEL,
  scriptedAnswer,
} from '../../../bench/model/scripted-model.ts';

interface Said {
  readonly role: string;
  readonly content: string | null;
}

function bodyOf(messages: readonly Said[], ...tools: readonly string[]): string {
  return JSON.stringify({ messages, tools: tools.map((name) => ({ type: 'function', function: { name } })) });
}

/** Deltas of an answer's events. */
function deltasOf(
  writes: readonly string[],
): readonly { content?: string; tool_calls?: readonly { function: { name?: string; arguments: string } }[] }[] {
  const events = writes.join('').split('\n\n').filter(Boolean);
  return events.map((event) => JSON.parse(event.replace('data: ', '')).choices[0].delta);
}

/** Calls of an answer as name and arguments. */
function callsOf(writes: readonly string[]): readonly (readonly [string, unknown])[] {
  const parts = deltasOf(writes).flatMap(({ tool_calls: calls = [] }) => calls);
  return parts.flatMap(({ function: { name } }, at) =>
    name === undefined ? [] : [[name, JSON.parse(parts[at + 1]?.function.arguments ?? '')] as const],
  );
}

const ASKED: readonly Said[] = [
  { role: 'system', content: 'You help.' },
  { role: 'user', content: 'Where is my chair?' },
];
const PASSAGE = { sourceId: 'kno_1', externalKey: 'chairs', title: 'Chairs', headings: [], text: 'They are here.', score: 1 };
const CALLED: Said = { role: 'assistant', content: 'the ' };

describe('BENCH-7: the models that call something', () => {
  test('a list and a read action are called, once, and their result is answered', () => {
    const asks = scriptedAnswer(LIST_ACTION_MODEL, bodyOf(ASKED, LIST_COMPONENT, READ_ACTION));
    assert.ok(asks !== undefined);
    assert.equal(asks.finish, 'tool_calls');
    assert.equal(deltasOf(asks.writes)[0]?.content, 'the ');
    const calls = callsOf(asks.writes);
    assert.deepEqual(
      calls.map(([name]) => name),
      [LIST_COMPONENT, READ_ACTION],
    );

    const result = { role: 'tool', content: fence(`result of ${READ_ACTION}`, '{"status":"shipped"}') };
    const tells = scriptedAnswer(LIST_ACTION_MODEL, bodyOf([...ASKED, CALLED, result], LIST_COMPONENT, READ_ACTION));
    assert.deepEqual([tells?.finish, deltasOf(tells?.writes ?? []).length], ['stop', 1]);
    // The next message begins anew: results of the turn before do not count.
    const again = scriptedAnswer(
      LIST_ACTION_MODEL,
      bodyOf([...ASKED, CALLED, result, CALLED, ...ASKED.slice(1)], LIST_COMPONENT, READ_ACTION),
    );
    assert.equal(again?.finish, 'tool_calls');
  });

  test("a search is for the person's words, and what it found is answered", () => {
    const asks = scriptedAnswer(SEARCH_MODEL, bodyOf(ASKED, 'search_knowledge'));
    assert.deepEqual(callsOf(asks?.writes ?? []), [['search_knowledge', { query: 'Where is my chair?' }]]);
    const found = { role: 'tool', content: passageWords(PASSAGE, 0) };
    assert.equal(scriptedAnswer(SEARCH_MODEL, bodyOf([...ASKED, CALLED, found], 'search_knowledge'))?.finish, 'stop');
  });

  test('a request without the tool, a result of another call, a search without a find and two results are refused', () => {
    const result = (content: string): Said => ({ role: 'tool', content });
    const refused: readonly (readonly [string, string])[] = [
      [LIST_ACTION_MODEL, bodyOf(ASKED, READ_ACTION)],
      [LIST_ACTION_MODEL, bodyOf(ASKED, LIST_COMPONENT)],
      [LIST_ACTION_MODEL, bodyOf([...ASKED, CALLED, result('get_order_status has not answered.')], LIST_COMPONENT, READ_ACTION)],
      [SEARCH_MODEL, bodyOf(ASKED)],
      [SEARCH_MODEL, bodyOf([...ASKED, CALLED, result('Nothing was found.')], 'search_knowledge')],
      [SEARCH_MODEL, bodyOf([...ASKED, CALLED, result('<<data:a knowledge 1>>'), result('<<data:a knowledge 1>>')], 'search_knowledge')],
    ];
    for (const [model, body] of refused) assert.throws(() => scriptedAnswer(model, body), NotInScript, body);
    assert.equal(scriptedAnswer('fake-1-0', '{}'), undefined);
    assert.equal(scriptedAnswer('toString', '{}'), undefined);
  });
});
