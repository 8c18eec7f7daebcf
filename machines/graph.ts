/**
 * A machine's definition as plain nodes and edges, and as Mermaid text: for the console, the documentation and tests.
 * Reads definitions only; it never runs a machine.
 */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

export interface GraphNode {
  /** Dotted path of the state, e.g. `pending.clean`. */
  readonly id: string;
  /** Nothing leaves it: the machine is done there. */
  readonly final: boolean;
  /** Where its parent (or the machine) starts. */
  readonly initial: boolean;
  /** Id of the state around it; absent at the top. */
  readonly parent?: string;
  /** The states inside are all entered at once and run beside each other. */
  readonly parallel?: true;
  /** Names of what is done whenever it is entered; absent where nothing is. */
  readonly entry?: readonly string[];
  /** The same for whenever it is left. */
  readonly exit?: readonly string[];
  /** Events that the machine ignores here and whoever steps it refuses: the event, and the code that the person gets who asked. */
  readonly refused?: Readonly<Record<string, string>>;
}

export interface GraphEdge {
  readonly from: string;
  /** The target as written: a compound state stands for its initial state. `from` when there is no target. */
  readonly to: string;
  readonly event: string;
  /** Name of the guard. Edges of one state and event are in the order in which they are tried. */
  readonly guard?: string;
  readonly actions: readonly string[];
  /** The code of a refusal, where emitting it is all that the transition does. */
  readonly refusal?: string;
}

export interface MachineGraph {
  readonly id: string;
  /** The states at the top are all entered at once and run beside each other. */
  readonly parallel?: true;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Words that Mermaid reads as its own at the start of a line. */
const MERMAID_WORDS = new Set([
  'end',
  'state',
  'note',
  'class',
  'classDef',
  'style',
  'direction',
  'click',
  'as',
  'default',
  'fork',
  'join',
  'choice',
]);

/**
 * The states and transitions of a machine's definition, states in document order, each before those inside it.
 * Guards and actions are given by name; one written in place is called `inline`. What callers refuse stands in a state's
 * `meta.refused`.
 */
export function machineGraph(machine: AnyStateMachine): MachineGraph {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = transitionsOf(machine.root).map((transition) => edgeOf(transition, machine));
  const visit = (node: AnyStateNode, parent: AnyStateNode) => {
    nodes.push({
      id: idOf(node, machine.id),
      final: node.type === 'final',
      initial: parent.type === 'parallel' || parent.initial.target.includes(node),
      ...(parent === machine.root ? {} : { parent: idOf(parent, machine.id) }),
      ...parallelOf(node),
      ...(node.entry.length === 0 ? {} : { entry: node.entry.map(nameOf) }),
      ...(node.exit.length === 0 ? {} : { exit: node.exit.map(nameOf) }),
      ...refusedIn(node),
    });
    edges.push(...transitionsOf(node).map((transition) => edgeOf(transition, machine)));
    for (const child of childrenOf(node)) visit(child, node);
  };
  for (const node of childrenOf(machine.root)) visit(node, machine.root);
  return { id: machine.id, ...parallelOf(machine.root), nodes, edges };
}

function parallelOf(node: AnyStateNode): { parallel?: true } {
  return node.type === 'parallel' ? { parallel: true } : {};
}

function refusedIn(node: AnyStateNode): { refused?: Readonly<Record<string, string>> } {
  const meta = node.meta as { readonly refused?: Readonly<Record<string, string>> } | undefined;
  return meta?.refused === undefined ? {} : { refused: meta.refused };
}

function childrenOf(node: AnyStateNode): AnyStateNode[] {
  return Object.values(node.states as Record<string, AnyStateNode>);
}

function transitionsOf(node: AnyStateNode): AnyTransitionDefinition[] {
  return [...(node.transitions as Map<string, AnyTransitionDefinition[]>).values()].flat();
}

/** The root has no path, so it has the machine's own id. */
function idOf(node: AnyStateNode, machineId: string): string {
  return node.path.length === 0 ? machineId : node.path.join('.');
}

function edgeOf(transition: AnyTransitionDefinition, machine: AnyStateMachine): GraphEdge {
  const from = idOf(transition.source, machine.id);
  const target = transition.target?.[0];
  const actions = transition.actions.map(nameOf);
  const refusal = target === undefined ? refusalOf(actions, machine) : undefined;
  return {
    from,
    to: target === undefined ? from : idOf(target, machine.id),
    event: transition.eventType,
    ...(transition.guard === undefined ? {} : { guard: nameOf(transition.guard) }),
    actions,
    ...(refusal === undefined ? {} : { refusal }),
  };
}

/** The code, where the one action emits `{ type: 'refuse', code }`. `emit` keeps what it emits at its function. */
function refusalOf([only, ...others]: readonly string[], machine: AnyStateMachine): string | undefined {
  if (only === undefined || others.length > 0) return undefined;
  const action: unknown = (machine.implementations.actions as Readonly<Record<string, unknown>>)[only];
  const { event } = (typeof action === 'function' ? action : {}) as { readonly event?: unknown };
  if (typeof event !== 'object' || event === null) return undefined;
  const { type, code } = event as { readonly type?: unknown; readonly code?: unknown };
  return type === 'refuse' && typeof code === 'string' ? code : undefined;
}

function nameOf(part: unknown): string {
  if (typeof part === 'string') return part;
  const type = typeof part === 'object' && part !== null && 'type' in part ? part.type : undefined;
  return typeof type === 'string' ? type : 'inline';
}

/** The guard that a reader is shown: its name, `otherwise` for the last resort of a guarded event, undefined where nothing is asked. */
export function shownGuard(graph: MachineGraph, { from, event, guard }: GraphEdge): string | undefined {
  if (guard !== undefined) return guard;
  const isLastResort = graph.edges.some((other) => other.from === from && other.event === event && other.guard !== undefined);
  return isLastResort ? 'otherwise' : undefined;
}

/** The label of an edge: `event [guard]`, and `[otherwise]` for the last resort of a guarded event. */
export function edgeLabel(graph: MachineGraph, edge: GraphEdge): string {
  const guard = shownGuard(graph, edge);
  return guard === undefined ? edge.event : `${edge.event} [${guard}]`;
}

/** The graph as a Mermaid `stateDiagram-v2`, one line per edge, ending in a line break. */
export function mermaid(graph: MachineGraph): string {
  const lines = ['stateDiagram-v2', ...topLines(graph)];
  for (const edge of graph.edges) {
    lines.push(`  ${mermaidId(edge.from)} --> ${mermaidId(edge.to)} : ${escaped(edgeLabel(graph, edge))}`);
  }
  return `${lines.join('\n')}\n`;
}

function topLines(graph: MachineGraph): string[] {
  if (graph.parallel === undefined) return statesInside(graph, undefined, '  ').flat();
  // Mermaid draws regions beside each other only inside a state: the machine itself is that state.
  return [
    `  state "${escaped(graph.id)}" as ${mermaidId(graph.id)} {`,
    ...besideEachOther(statesInside(graph, undefined, '    '), '    '),
    '  }',
  ];
}

function statesInside(graph: MachineGraph, parent: string | undefined, indent: string): string[][] {
  return graph.nodes
    .filter((node) => node.parent === parent)
    .map((node) => {
      const id = mermaidId(node.id);
      const declaration = `${indent}state "${escaped(node.id.slice(node.id.lastIndexOf('.') + 1))}" as ${id}`;
      const states = statesInside(graph, node.id, `${indent}  `);
      const inside = node.parallel ? besideEachOther(states, `${indent}  `) : states.flat();
      return [
        ...(inside.length === 0 ? [declaration] : [`${declaration} {`, ...inside, `${indent}}`]),
        ...(node.initial ? [`${indent}[*] --> ${id}`] : []),
        ...(node.final ? [`${indent}${id} --> [*]`] : []),
      ];
    });
}

/** Mermaid's line between regions. */
function besideEachOther(regions: readonly string[][], indent: string): string[] {
  return regions.flatMap((region, at) => (at === 0 ? region : [`${indent}--`, ...region]));
}

/** A Mermaid name for a state: letters, digits and underscores, and none of Mermaid's own words. */
function mermaidId(id: string): string {
  const name = id.replaceAll(/\W/g, '_');
  return MERMAID_WORDS.has(name) ? `${name}_` : name;
}

/** Text in which Mermaid finds no syntax of its own: what it would read becomes a character code. */
function escaped(text: string): string {
  return text.replaceAll(/[#;:"<>%{}\n]/g, (character) => `#${character.codePointAt(0)};`);
}
