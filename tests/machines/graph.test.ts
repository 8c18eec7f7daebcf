import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import type { AnyStateMachine } from 'xstate';
import { drawnGraph } from '../../machines/diagrams/region.ts';
import { edgeLabel, type GraphEdge, type MachineGraph, machineGraph, mermaid } from '../../machines/graph.ts';
import { MACHINES } from '../../machines/index.ts';
import { machineTable } from '../../machines/table.ts';
import { INVOCATION_STATES, TURN_STATES } from '../../protocol/runtime/states.ts';
import { STEP_IDS, STEP_STATES } from '../../protocol/setup/steps.ts';

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
          typeof one === 'string'
            ? { guard: undefined, actions: undefined }
            : (one as { guard?: string | { type: string }; actions?: unknown });
        const name = typeof guard === 'object' ? guard.type : guard;
        found.transitions.push(`${path} ${event} ${name ?? '-'} ${list(actions).join('+')}`);
      }
    }
    const inside = writtenIn(state.states ?? {}, `${path}.`);
    found.states.push(...inside.states);
    found.transitions.push(...inside.transitions);
  }
  return found;
}

/** What is read and documented of a machine: all of it, or one of its regions, which are alike but for the step they are about. */
function documented(whole: MachineGraph): MachineGraph {
  const { graph } = drawnGraph(whole);
  assert.equal(graph.parallel, undefined, 'regions that differ need a section each');
  return graph;
}

for (const { name, machine } of MACHINES) {
  test(`RUN-14: ${name} shows every state and transition of its definition`, () => {
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

  test(`RUN-14: the Mermaid text of ${name} holds every edge once`, () => {
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

  test(`HOUSE-5: docs/machines.md: the diagram of ${name} is the one its definition gives`, () => {
    const docs = readFileSync(new URL('docs/machines.md', ROOT), 'utf8');
    const blocks = [...docs.matchAll(/```mermaid\n([\s\S]*?)```/g)].map((match) => match[1]);
    assert.equal(blocks.length, MACHINES.length);
    const diagram = mermaid(documented(machineGraph(machine)));
    assert.ok(blocks.includes(diagram), diagram);
  });

  test(`HOUSE-5: the tables in ${name}.ts and in docs/machines.md say what the definition does, cell by cell`, () => {
    const source = readFileSync(new URL(`machines/${name}.ts`, ROOT), 'utf8');
    proveTable(documented(machineGraph(machine)), readTable(source.replaceAll(/^ \* /gm, '')));
    const docs = readFileSync(new URL('docs/machines.md', ROOT), 'utf8');
    const section = docs.split(/^## /m).find((candidate) => candidate.includes(`\`${name}\``));
    assert.ok(section, `docs/machines.md has no section on ${name}`);
    proveTable(documented(machineGraph(machine)), readTable(section));
  });

  test(`DIAGRAM-10: the table that is made of ${name} says what docs/machines.md says`, () => {
    const docs = readFileSync(new URL('docs/machines.md', ROOT), 'utf8');
    const section = docs.split(/^## /m).find((candidate) => candidate.includes(`\`${name}\``));
    const told = readTable(section ?? '');
    for (const { state, cells } of machineTable(documented(machineGraph(machine))).rows) {
      for (const { event, kind, to, refusals = [] } of cells) {
        // A state in which nothing counts may have no row.
        const words = (told.get(state)?.get(event) ?? 'ignored').split('/').map((word) => word.trim());
        const codes = words.filter((word) => word.startsWith('refuses ')).map((word) => word.slice('refuses '.length));
        const refused = codes.length > 0 || words.includes('refused');
        const targets = words
          .filter((word) => !/^(?:ignored|refused|refuses .*)$/.test(word))
          .map((word) => (word === 'stays' ? state : word));
        const moves = targets.some((target) => target !== state);
        const place = `${name}: ${state} × ${event}`;
        assert.equal(kind, moves ? 'moves' : targets.length > 0 ? 'stays' : refused ? 'refused' : 'ignored', place);
        assert.deepEqual(new Set(to), new Set(moves ? targets : []), place);
        // Beside a move, a page names some refusals in its notes.
        if (kind === 'refused') assert.equal(refusals.length > 0, true, place);
        assert.deepEqual(
          refusals.filter((code) => codes.includes(code)),
          codes,
          place,
        );
      }
    }
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
  const words = cell.split('/').map((word) => word.trim());
  return new Set(words.map((word) => (word === 'stays' || word.startsWith('refuses ') ? state : word)));
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

test('HOUSE-5: the list names every machine of the folder, each by its own id', () => {
  const others = new Set([
    'graph.ts',
    'index.ts',
    'inspection.ts',
    'instance-ids.ts',
    'model-round.ts',
    'picture.ts',
    'replay.ts',
    'step.ts',
    'table.ts',
    'trace-file.ts',
    'trace.ts',
    'version.ts',
  ]);
  const files = readdirSync(new URL('machines/', ROOT)).filter((file) => file.endsWith('.ts') && !others.has(file));
  assert.deepEqual(MACHINES.map((machine) => `${machine.name}.ts`).sort(), files.sort());
  for (const { name, machine } of MACHINES) assert.equal(machine.id, name);
});

test('HOUSE-5: the stored names of states are the atomic states of the machines', () => {
  for (const [name, stored] of [
    ['chat-turn', TURN_STATES],
    ['invocation', INVOCATION_STATES],
  ] as const) {
    const { nodes } = machineGraph(machineNamed(name));
    const atomic = nodes.filter((node) => !nodes.some((other) => other.parent === node.id)).map((node) => node.id);
    assert.deepEqual(new Set(atomic), new Set(stored));
  }
});

test('HOUSE-5: the panel has a region for each step, and each may be in every state of a step', () => {
  const { nodes } = machineGraph(machineNamed('step-panel'));
  assert.deepEqual(
    nodes.filter((node) => node.parent === undefined).map((node) => node.id),
    STEP_IDS,
  );
  for (const step of STEP_IDS) {
    const inside = nodes.filter((node) => node.parent === step).map((node) => node.id);
    assert.deepEqual(new Set(inside), new Set(STEP_STATES.map((state) => `${step}.${state}`)));
  }
});
