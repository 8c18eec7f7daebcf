import assert from 'node:assert/strict';
import test from 'node:test';
import { setup } from 'xstate';
import { machineGraph, mermaid } from '../../machines/graph.ts';

const NESTED = setup({
  types: { events: {} as { type: 'go: "now"; #1' } | { type: 'end' } },
  guards: { isReady: () => true },
}).createMachine({
  id: 'nested',
  initial: 'outer',
  on: { end: '.end' },
  states: {
    outer: {
      initial: 'first',
      states: { first: { on: { 'go: "now"; #1': [{ guard: 'isReady', target: 'second' }, { target: '#nested.end' }] } }, second: {} },
    },
    end: { type: 'final' },
  },
});

const PARALLEL = setup({ types: { events: {} as { type: 'flip' } | { type: 'leave' } } }).createMachine({
  id: 'both-hands',
  type: 'parallel',
  states: {
    left: { initial: 'down', states: { down: { on: { flip: 'up' } }, up: {} } },
    right: { type: 'parallel', on: { leave: '.thumb' }, states: { thumb: {}, finger: {} } },
  },
});

test('RUN-14: states that run beside each other all start, and what holds them says so', () => {
  const graph = machineGraph(PARALLEL);
  assert.equal(graph.parallel, true);
  assert.deepEqual(graph.nodes, [
    { id: 'left', final: false, initial: true },
    { id: 'left.down', final: false, initial: true, parent: 'left' },
    { id: 'left.up', final: false, initial: false, parent: 'left' },
    { id: 'right', final: false, initial: true, parallel: true },
    { id: 'right.thumb', final: false, initial: true, parent: 'right' },
    { id: 'right.finger', final: false, initial: true, parent: 'right' },
  ]);
  assert.deepEqual(graph.edges, [
    { from: 'left.down', to: 'left.up', event: 'flip', actions: [] },
    { from: 'right', to: 'right.thumb', event: 'leave', actions: [] },
  ]);
});

test('RUN-14: Mermaid draws a line between states that run beside each other', () => {
  assert.equal(
    mermaid(machineGraph(PARALLEL)),
    [
      'stateDiagram-v2',
      '  state "both-hands" as both_hands {',
      '    state "left" as left {',
      '      state "down" as left_down',
      '      [*] --> left_down',
      '      state "up" as left_up',
      '    }',
      '    [*] --> left',
      '    --',
      '    state "right" as right {',
      '      state "thumb" as right_thumb',
      '      [*] --> right_thumb',
      '      --',
      '      state "finger" as right_finger',
      '      [*] --> right_finger',
      '    }',
      '    [*] --> right',
      '  }',
      '  left_down --> left_up : flip',
      '  right --> right_thumb : leave',
      '',
    ].join('\n'),
  );
});

test('RUN-14: nested states have a parent, and each level has one start', () => {
  const { nodes } = machineGraph(NESTED);
  assert.deepEqual(nodes, [
    { id: 'outer', final: false, initial: true },
    { id: 'outer.first', final: false, initial: true, parent: 'outer' },
    { id: 'outer.second', final: false, initial: false, parent: 'outer' },
    { id: 'end', final: true, initial: false },
  ]);
});

test('RUN-14: transitions of the whole machine and guarded branches are edges, in the order they are tried', () => {
  assert.deepEqual(machineGraph(NESTED).edges, [
    { from: 'nested', to: 'end', event: 'end', actions: [] },
    { from: 'outer.first', to: 'outer.second', event: 'go: "now"; #1', guard: 'isReady', actions: [] },
    { from: 'outer.first', to: 'end', event: 'go: "now"; #1', actions: [] },
  ]);
});

test('RUN-14: Mermaid text escapes what Mermaid would read as its own', () => {
  assert.equal(
    mermaid(machineGraph(NESTED)),
    [
      'stateDiagram-v2',
      '  state "outer" as outer {',
      '    state "first" as outer_first',
      '    [*] --> outer_first',
      '    state "second" as outer_second',
      '  }',
      '  [*] --> outer',
      '  state "end" as end_',
      '  end_ --> [*]',
      '  nested --> end_ : end',
      '  outer_first --> outer_second : go#58; #34;now#34;#59; #35;1 [isReady]',
      '  outer_first --> end_ : go#58; #34;now#34;#59; #35;1 [otherwise]',
      '',
    ].join('\n'),
  );
});
