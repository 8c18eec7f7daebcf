import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { type AnyStateMachine, setup } from 'xstate';
import { edgeLabel, type GraphEdge, type MachineGraph, machineGraph, mermaid } from '../../src/machines/graph.ts';
import { MACHINES } from '../../src/machines/index.ts';
import { INVOCATION_STATES, TURN_STATES } from '../../src/protocol/runtime/states.ts';

/** The repository, seen from the compiled test. */
const ROOT = new URL('../../../', import.meta.url);

function machineNamed(name: string): AnyStateMachine {
  const listed = MACHINES.find((machine) => machine.name === name);
  assert.ok(listed, name);
  return listed.machine;
}

/** A state as it is written in a machine's source. */
interface WrittenState {
  readonly type?: string;
  readonly initial?: string;
  readonly on?: Readonly<Record<string, unknown>>;
  readonly states?: Readonly<Record<string, WrittenState>>;
}

interface Written {
  readonly states: string[];
  /** `from event guard actions`, in the order in which they are tried. */
  readonly transitions: string[];
}

function list(value: unknown): unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function writtenIn(states: Readonly<Record<string, WrittenState>>, prefix: string): Written {
  const found: Written = { states: [], transitions: [] };
  for (const [key, state] of Object.entries(states)) {
    const path = prefix + key;
    found.states.push(path);
    for (const [event, written] of Object.entries(state.on ?? {})) {
      for (const one of list(written)) {
        const { guard, actions } =
          typeof one === 'string' ? { guard: undefined, actions: undefined } : (one as { guard?: string; actions?: unknown });
        found.transitions.push(`${path} ${event} ${guard ?? '-'} ${list(actions).join('+')}`);
      }
    }
    const inside = writtenIn(state.states ?? {}, `${path}.`);
    found.states.push(...inside.states);
    found.transitions.push(...inside.transitions);
  }
  return found;
}

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

for (const { name, machine } of MACHINES) {
  test(`GET /console/api/machines: ${name} shows every state and transition of its definition`, () => {
    const graph = machineGraph(machine);
    const written = writtenIn(machine.config.states as Record<string, WrittenState>, '');
    assert.equal(graph.id, machine.id);
    assert.deepEqual(
      graph.nodes.map((node) => node.id),
      written.states,
    );
    assert.deepEqual(
      graph.edges.map((edge) => `${edge.from} ${edge.event} ${edge.guard ?? '-'} ${edge.actions.join('+')}`),
      written.transitions,
    );
    const ids = new Set(graph.nodes.map((node) => node.id));
    for (const edge of graph.edges) assert.ok(ids.has(edge.to), edge.to);
  });

  test(`GET /console/api/machines: the Mermaid text of ${name} holds every edge once`, () => {
    const graph = machineGraph(machine);
    const lines = mermaid(graph).split('\n');
    assert.equal(lines[0], 'stateDiagram-v2');
    for (const edge of graph.edges) {
      const line = `  ${edge.from.replace('.', '_')} --> ${edge.to.replace('.', '_')} : ${edgeLabel(graph, edge)}`;
      assert.equal(lines.filter((candidate) => candidate === line).length, 1, line);
    }
    const starts = graph.nodes.filter((node) => node.initial).length;
    const ends = graph.nodes.filter((node) => node.final).length;
    assert.equal(lines.filter((line) => line.includes('-->')).length, graph.edges.length + starts + ends);
  });

  test(`docs/machines.md: the diagram of ${name} is the one its definition gives`, () => {
    const docs = readFileSync(new URL('docs/machines.md', ROOT), 'utf8');
    const blocks = [...docs.matchAll(/```mermaid\n([\s\S]*?)```/g)].map((match) => match[1]);
    assert.equal(blocks.length, MACHINES.length);
    assert.ok(blocks.includes(mermaid(machineGraph(machine))), mermaid(machineGraph(machine)));
  });

  test(`house: the tables in ${name}.ts and in docs/machines.md say what the definition does, cell by cell`, () => {
    const source = readFileSync(new URL(`src/machines/${name}.ts`, ROOT), 'utf8');
    proveTable(machineGraph(machine), readTable(source.replaceAll(/^ \* /gm, '')));
    const docs = readFileSync(new URL('docs/machines.md', ROOT), 'utf8');
    const section = docs.split(/^## /m).find((candidate) => candidate.includes(`\`${name}\``));
    assert.ok(section, `docs/machines.md has no section on ${name}`);
    proveTable(machineGraph(machine), readTable(section));
  });
}

type Table = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The first Markdown table whose corner says `state \ event`: state → event → cell. */
function readTable(text: string): Table {
  const rows = text
    .slice(text.indexOf('| state \\ event'))
    .split(/\n(?!\|)/)[0]
    ?.split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.replaceAll(/[`¹²³⁴⁵⁶]/g, '').trim()),
    );
  const [head, , ...body] = rows ?? [];
  assert.ok(head !== undefined && head.length > 1, 'no state × event table');
  return new Map(body.map((row) => [row[0] ?? '', new Map(head.slice(1).map((event, at) => [event, row[at + 1] ?? '']))]));
}

/** The states a cell leads to: none where nothing happens. */
function targetsOf(state: string, cell: string): Set<string> {
  if (cell === 'ignored' || cell === 'refused') return new Set();
  return new Set(cell.split('/').map((word) => (word.trim() === 'stays' ? state : word.trim())));
}

/** Transitions of a state and, where it has none that always applies, of the state around it. */
function edgesFrom(graph: MachineGraph, state: string, event: string): GraphEdge[] {
  const node = graph.nodes.find((candidate) => candidate.id === state);
  assert.ok(node, state);
  const own = graph.edges.filter((edge) => edge.from === state && edge.event === event);
  const isTotal = own.some((edge) => edge.guard === undefined);
  return isTotal || node.parent === undefined ? own : [...own, ...edgesFrom(graph, node.parent, event)];
}

/** A state that has states inside stands for its initial one. */
function entered(graph: MachineGraph, state: string): string {
  const inside = graph.nodes.find((node) => node.parent === state && node.initial);
  return inside === undefined ? state : entered(graph, inside.id);
}

function proveTable(graph: MachineGraph, table: Table): void {
  const atomic = graph.nodes.filter((node) => !graph.nodes.some((other) => other.parent === node.id)).map((node) => node.id);
  const events = new Set(graph.edges.map((edge) => edge.event));
  for (const state of atomic) {
    const row = table.get(state);
    if (row === undefined) {
      assert.ok(!graph.edges.some((edge) => edge.from === state), `${state} has transitions and no row`);
      continue;
    }
    assert.deepEqual(new Set(row.keys()), events);
    for (const [event, cell] of row) {
      const targets = new Set(edgesFrom(graph, state, event).map((edge) => entered(graph, edge.to)));
      assert.deepEqual(targetsOf(state, cell), targets, `${graph.id}: ${state} × ${event}`);
    }
  }
  for (const state of table.keys()) assert.ok(atomic.includes(state), `${state} is a row and no state`);
}

test('house: the list names every machine of the folder, each by its own id', () => {
  const others = new Set(['graph.ts', 'index.ts']);
  const files = readdirSync(new URL('src/machines/', ROOT)).filter((file) => file.endsWith('.ts') && !others.has(file));
  assert.deepEqual(MACHINES.map((machine) => `${machine.name}.ts`).sort(), files.sort());
  for (const { name, machine } of MACHINES) assert.equal(machine.id, name);
});

test('decisions §8: the stored names of states are the atomic states of the machines', () => {
  for (const [name, stored] of [
    ['chat-turn', TURN_STATES],
    ['invocation', INVOCATION_STATES],
  ] as const) {
    const { nodes } = machineGraph(machineNamed(name));
    const atomic = nodes.filter((node) => !nodes.some((other) => other.parent === node.id)).map((node) => node.id);
    assert.deepEqual(new Set(atomic), new Set(stored));
  }
});

test('GET /console/api/machines: nested states have a parent, and each level has one start', () => {
  const { nodes } = machineGraph(NESTED);
  assert.deepEqual(nodes, [
    { id: 'outer', final: false, initial: true },
    { id: 'outer.first', final: false, initial: true, parent: 'outer' },
    { id: 'outer.second', final: false, initial: false, parent: 'outer' },
    { id: 'end', final: true, initial: false },
  ]);
});

test('GET /console/api/machines: transitions of the whole machine and guarded branches are edges, in the order they are tried', () => {
  assert.deepEqual(machineGraph(NESTED).edges, [
    { from: 'nested', to: 'end', event: 'end', actions: [] },
    { from: 'outer.first', to: 'outer.second', event: 'go: "now"; #1', guard: 'isReady', actions: [] },
    { from: 'outer.first', to: 'end', event: 'go: "now"; #1', actions: [] },
  ]);
});

test('GET /console/api/machines: Mermaid text escapes what Mermaid would read as its own', () => {
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
