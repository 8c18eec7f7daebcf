/** The table that is made of a machine's definition. docs/machines.md is compared with it in graph.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMachine, emit, setup } from 'xstate';
import { drawnGraph } from '../../machines/diagrams/region.ts';
import { machineGraph } from '../../machines/graph.ts';
import { machineTable } from '../../machines/table.ts';

test('DIAGRAM-10: a cell moves, stays, is refused or is ignored; inner states have what the state around them has', () => {
  const machine = setup({
    types: {
      events: {} as { type: 'go' } | { type: 'note' } | { type: 'ask' } | { type: 'reset' } | { type: 'pull' },
      emitted: {} as { type: 'refuse'; code: string },
    },
    guards: { isReady: () => true },
    actions: { refuseBusy: emit({ type: 'refuse', code: 'busy' }), refuseLate: emit({ type: 'refuse', code: 'late' }), count: () => {} },
  }).createMachine({
    id: 'table',
    initial: 'outer',
    on: { reset: '.end' },
    states: {
      outer: {
        initial: 'first',
        on: { go: 'end', ask: [{ guard: 'isReady', actions: 'refuseBusy' }, { actions: 'refuseLate' }] },
        states: {
          first: { on: { go: { guard: 'isReady', target: 'second' }, note: { actions: 'count' } } },
          second: { meta: { refused: { pull: 'shut' } }, on: { ask: [{ guard: 'isReady', target: 'first' }, { actions: 'refuseLate' }] } },
        },
      },
      end: { on: { reset: { actions: ['count', 'refuseBusy'] } } },
    },
  });
  assert.deepEqual(machineTable(machineGraph(machine)), {
    events: ['reset', 'go', 'ask', 'note', 'pull'],
    rows: [
      {
        state: 'outer.first',
        cells: [
          { event: 'reset', kind: 'moves', to: ['end'] },
          { event: 'go', kind: 'moves', to: ['outer.second', 'end'] },
          { event: 'ask', kind: 'refused', refusals: ['busy', 'late'] },
          { event: 'note', kind: 'stays' },
          { event: 'pull', kind: 'ignored' },
        ],
      },
      {
        state: 'outer.second',
        cells: [
          { event: 'reset', kind: 'moves', to: ['end'] },
          { event: 'go', kind: 'moves', to: ['end'] },
          { event: 'ask', kind: 'moves', to: ['outer.first'], refusals: ['late'] },
          { event: 'note', kind: 'ignored' },
          { event: 'pull', kind: 'refused', refusals: ['shut'] },
        ],
      },
      {
        state: 'end',
        cells: [
          { event: 'reset', kind: 'stays' },
          { event: 'go', kind: 'ignored' },
          { event: 'ask', kind: 'ignored' },
          { event: 'note', kind: 'ignored' },
          { event: 'pull', kind: 'ignored' },
        ],
      },
    ],
  });
});

function hands(other: object) {
  const hand = { initial: 'down', states: { down: { on: { flip: 'up' } }, up: {} } };
  return machineGraph(createMachine({ id: 'hands', type: 'parallel', states: { left: hand, right: { ...hand, ...other } } }));
}

test('DIAGRAM-5: regions that are alike stand for each other; any difference, and all are drawn', () => {
  const { graph, regions } = drawnGraph(hands({}));
  assert.deepEqual(regions, ['left', 'right']);
  assert.deepEqual(graph, {
    id: 'hands',
    nodes: [
      { id: 'down', final: false, initial: true },
      { id: 'up', final: false, initial: false },
    ],
    edges: [{ from: 'down', to: 'up', event: 'flip', actions: [] }],
  });
  for (const other of [{ initial: 'up' }, { on: { flip: '.down' } }, { states: { down: { on: { flop: 'up' } }, up: {} } }]) {
    const whole = hands(other);
    assert.deepEqual(drawnGraph(whole), { graph: whole });
  }
});
