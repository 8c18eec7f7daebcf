/** The pictures of machines: they are those of the definitions, show all of them, and can be read. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createMachine } from 'xstate';
import { readPicture } from '../../machines/diagrams/description.ts';
import { drawnGraph } from '../../machines/diagrams/region.ts';
import { pictureSvg } from '../../machines/diagrams/svg.ts';
import { machineGraph, shownGuard } from '../../machines/graph.ts';
import { MACHINES } from '../../machines/index.ts';
import type { MachineOutline, MachinePicture } from '../../machines/picture.ts';
import { machineVersion } from '../../machines/version.ts';
import { STEP_IDS, STEP_STATES } from '../../protocol/setup/steps.ts';
import { countCrossings } from '../../tools/diagrams/geometry.ts';
import { layoutMachine } from '../../tools/diagrams/layout.ts';
import { faultsOf } from '../../tools/diagrams/picture-faults.ts';

/** The repository, seen from the compiled test. */
const ROOT = new URL('../../../', import.meta.url);

const HINT = 'run npm run diagrams';

/** Crossings that were reached; a change that brings more reads worse. Machines that are not named have none. */
const CROSSINGS_MAX: Readonly<Record<string, number>> = { 'chat-turn': 4, invocation: 15, 'step-panel': 2 };

/** What a phone leaves, and the machines whose outline is wider. */
const PHONE_PX = 366;
const WIDE_ON_PHONES: Readonly<Record<string, number>> = { invocation: 520 };

/** Each transition and refusal that a picture shows, as a line. */
function shown({ edges, states }: MachinePicture): string[] {
  const labels = edges.flatMap(({ from, to, labels }) => labels.map(({ event, guard }) => `${from} > ${to}: ${event} ${guard ?? ''}`));
  const rows = states.flatMap(({ id, rows }) => rows.map(({ event, guard, refusal }) => `${id}: ${event} ${guard ?? ''} ${refusal ?? ''}`));
  return [...labels, ...rows].sort();
}

for (const listed of MACHINES) {
  const { name, title, machine } = listed;
  const picture = readPicture(listed);
  const { graph } = drawnGraph(machineGraph(machine));

  test(`DIAGRAM-1: the picture of ${name} is the one that its definition gives`, async () => {
    assert.equal(picture.version, machineVersion(machine), HINT);
    assert.deepEqual(picture, await layoutMachine(listed), HINT);
    assert.equal(readFileSync(new URL(`docs/images/machines/${name}.svg`, ROOT), 'utf8'), pictureSvg(picture, title), HINT);
  });

  test(`DIAGRAM-2: the picture of ${name} shows every transition once, those of one way as one edge`, () => {
    const edges = graph.edges.map((edge) => {
      const asked = `${edge.event} ${shownGuard(graph, edge) ?? ''}`;
      return edge.from === edge.to ? `${edge.from}: ${asked} ${edge.refusal ?? ''}` : `${edge.from} > ${edge.to}: ${asked}`;
    });
    const refused = graph.nodes.flatMap(({ id, refused }) =>
      Object.entries(refused ?? {}).map(([event, code]) => `${id}: ${event}  ${code}`),
    );
    assert.deepEqual(shown(picture), [...edges, ...refused].sort());
    const ways = picture.edges.map(({ from, to }) => `${from} > ${to}`);
    assert.equal(new Set(ways).size, ways.length);
  });

  test(`DIAGRAM-3: ${name} starts where its definition says, and is final where that is done`, () => {
    assert.deepEqual(
      picture.start.map(({ to }) => to),
      graph.nodes.filter(({ initial }) => initial).map(({ id }) => id),
    );
    assert.deepEqual(
      picture.states.map(({ id, final }) => [id, final]),
      graph.nodes.map(({ id, final }) => [id, final]),
    );
  });

  test(`DIAGRAM-11: the outlines of ${name} show every state and way once, and can be read; the last one is narrow`, () => {
    const ways = ({ edges }: MachineOutline) => edges.map(({ from, to }) => `${from} > ${to}`).sort();
    for (const outline of picture.outlines) {
      assert.deepEqual(faultsOf(outline), []);
      assert.deepEqual(
        outline.states.map(({ id, rows }) => [id, rows.length]),
        picture.states.map(({ id }) => [id, 0]),
      );
      assert.deepEqual(ways(outline), ways(picture));
      assert.ok(outline.edges.every(({ labels }) => labels.length === 1 && labels[0]?.event === ''));
    }
    const width = picture.outlines.at(-1)?.width ?? Number.POSITIVE_INFINITY;
    assert.ok(width <= (WIDE_ON_PHONES[name] ?? PHONE_PX), `${width}`);
  });

  test(`DIAGRAM-4: the picture of ${name} can be read`, () => {
    assert.deepEqual(faultsOf(picture), []);
    assert.ok(countCrossings(picture) <= (CROSSINGS_MAX[name] ?? 0), `${countCrossings(picture)} crossings`);
  });
}

test('DIAGRAM-1: there are pictures of listed machines only', () => {
  const names = MACHINES.map(({ name }) => name).sort();
  for (const [folder, ending] of [
    ['machines/pictures/', '.json'],
    ['docs/images/machines/', '.svg'],
  ] as const) {
    assert.deepEqual(
      readdirSync(new URL(folder, ROOT)).sort(),
      names.map((name) => name + ending),
      HINT,
    );
  }
});

test('DIAGRAM-2: what a machine only refuses, and what is refused for it, stands in its state with the code', () => {
  const rowsOf = (name: string, state: string) => {
    const listed = MACHINES.find((each) => each.name === name);
    assert.ok(listed);
    return readPicture(listed)
      .states.find(({ id }) => id === state)
      ?.rows.map(({ event, guard, refusal }) => [event, guard, refusal]);
  };
  assert.deepEqual(rowsOf('setup-session', 'completed'), [
    ['session.claim', undefined, 'session_closed'],
    ['session.call', undefined, 'session_closed'],
  ]);
  assert.deepEqual(rowsOf('setup-session', 'open'), [
    ['session.claim', 'isShutOut', 'app_live'],
    ['session.call', 'isShutOut', 'app_live'],
    ['session.call', 'otherwise', 'not_started'],
  ]);
  assert.deepEqual(rowsOf('pairing', 'claimed'), [['pairing.claim', undefined, 'pairing_not_found']]);
});

test('DIAGRAM-5: the panel is drawn as one step, and lists all', () => {
  const listed = MACHINES.find(({ name }) => name === 'step-panel');
  assert.ok(listed);
  const { regions, states } = readPicture(listed);
  assert.deepEqual(regions, STEP_IDS);
  assert.deepEqual(new Set(states.map(({ id }) => id)), new Set(STEP_STATES));
});

test('DIAGRAM-3, DIAGRAM-4: states inside states, and regions that differ, are drawn with a dot for each start', async () => {
  const machine = createMachine({
    id: 'made-up',
    initial: 'outer',
    states: {
      outer: {
        initial: 'first',
        on: { leave: 'both', stay: { actions: 'note' } },
        states: {
          first: { on: { next: { guard: 'isReady', target: 'second' } } },
          second: { on: { back: 'first', leave: 'last' } },
          last: {},
        },
      },
      both: {
        type: 'parallel',
        states: {
          left: { initial: 'down', states: { down: { on: { flip: 'up' } }, up: {} } },
          right: { initial: 'off', states: { off: { on: { flip: 'on' } }, on: { type: 'final' } } },
        },
        on: { end: 'end' },
      },
      end: { type: 'final' },
    },
  });
  const picture = await layoutMachine({ name: 'made-up', machine });
  assert.deepEqual(faultsOf(picture), []);
  assert.deepEqual(
    picture.start.map(({ to }) => to),
    ['outer', 'outer.first', 'both.left.down', 'both.right.off'],
  );
  assert.deepEqual(picture, await layoutMachine({ name: 'made-up', machine }));
});

test('DIAGRAM-4: a picture that cannot be read is detected', () => {
  const [listed] = MACHINES;
  assert.ok(listed);
  const picture = readPicture(listed);
  const [edge] = picture.edges;
  assert.ok(edge);
  const spoilt: readonly [MachinePicture, RegExp][] = [
    [{ ...picture, edges: [...picture.edges, edge] }, /lie over each other/],
    [{ ...picture, width: 10 }, /leaves the picture/],
    [
      {
        ...picture,
        edges: [
          {
            ...edge,
            points: [
              { x: 0, y: 0 },
              { x: picture.width, y: picture.height },
            ],
          },
        ],
      },
      /runs through/,
    ],
    [{ ...picture, edges: [{ ...edge, points: edge.points.slice(0, -1) }] }, /hangs in the air/],
    [{ ...picture, edges: [{ ...edge, labels: edge.labels.map((label) => ({ ...label, width: 3 })) }] }, /too little room/],
  ];
  for (const [each, fault] of spoilt) assert.match(faultsOf(each).join('\n'), fault);
});
