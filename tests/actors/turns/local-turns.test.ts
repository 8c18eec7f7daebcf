/** Two processes on the same rows, each with its own actors: what one of them does to a conversation between the other's looks. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { gate, readToEnd, ScriptedModel, turnsWorld } from './world.ts';

test('ACTION-7: a copy of a continuation that finds its results taken by the same turn, opened elsewhere, is that turn', async (t) => {
  const world = await turnsWorld(t);
  const [asksAgain, answers] = [gate(), gate()];
  const model = new ScriptedModel((asked) => {
    if (asked === 1) return { toolCalls: [{ id: 'call_1', name: 'look_up', arguments: '{}' }] };
    if (asked > 2) return { text: 'It is on its way.' };
    asksAgain.open();
    return { text: 'Too late.', after: answers.opened };
  });
  const [here, there] = [world.node('here', model), world.node('there', model)];
  const asked = await here.accept(world.command({ message: { text: 'look it up' } }));
  const end = (await readToEnd(asked.position)).at(-1);
  assert.equal(end?.data.status, 'awaiting_tool_results');
  const [{ invocation_id }] = end.data.pending as [{ invocation_id: string }];
  const conversation = { conversation_id: asked.conversationId };
  // Keeps the conversation busy there, so that the copy waits after it was looked up.
  await there.accept(world.command({ ...conversation, message: { text: 'And another thing.' } }));
  await asksAgain.opened;
  const continuation = world.command({ ...conversation, tool_results: [{ invocation_id, status: 'ok', result: {} }] });
  const copy = there.accept(continuation);
  const first = await readToEnd((await here.accept(continuation)).position);
  answers.open();
  const second = await readToEnd((await copy).position);
  assert.equal(first.at(-1)?.data.status, 'completed');
  assert.deepEqual(second, first);
  assert.equal(model.requests.length, 3);
});
