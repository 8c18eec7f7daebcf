/** One word and one colour for each state of the console. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineGraph } from '../../../machines/graph.ts';
import { MACHINES } from '../../../machines/index.ts';
import { signalOf, stateWords } from '../../../web/console/parts/states.ts';

test('PAGE-12: what a machine is done with is told in no colour of what goes on or waits, and what goes on in none of an end', () => {
  const nodes = MACHINES.flatMap(({ machine }) => machineGraph(machine).nodes);
  const over = nodes.filter((node) => node.final).map(({ id }) => id);
  assert.ok(over.includes('completed') && over.includes('timed_out'));
  for (const state of over) assert.match(signalOf(state), /^(?:is-ok|is-bad|)$/, state);
  for (const state of ['answering', 'working', 'awaiting_tool_results', 'executing', 'indexing', 'running', 'following']) {
    assert.equal(signalOf(state), 'is-accent', state);
  }
});

test('PAGE-12: a state has its word and its colour, whatever it is the state of', () => {
  const told = (state: string) => [stateWords(state), signalOf(state)];
  assert.deepEqual(told('completed'), ['completed', 'is-ok']);
  assert.deepEqual(told('indexed'), ['indexed', 'is-ok']);
  assert.deepEqual(told('over'), ['done', '']);
  assert.deepEqual(told('blocked'), ['live · blocked', 'is-wait']);
  assert.deepEqual(told('undecided'), ['waits for you', 'is-wait']);
  assert.deepEqual(told('failed'), ['failed', 'is-bad']);
});
