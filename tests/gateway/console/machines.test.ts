/** The machines over the console interface. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { machineRoutes } from '../../../gateway/console/machines.ts';
import { machineGraph } from '../../../machines/graph.ts';
import { MACHINES } from '../../../machines/index.ts';
import { machineVersion } from '../../../machines/version.ts';
import { prepareDataDir } from '../../../storage/data-layout.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import type { Storage } from '../../../storage/storage.ts';
import { createOperator } from '../../support/client.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { FILE } from '../../support/whole-file.ts';
import { serve } from '../test-server.ts';
import { OPERATOR_TOKEN, refusal } from './cluster-fixture.ts';

const line = v.strictObject({
  name: v.string(),
  title: v.string(),
  source: v.string(),
  version: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)),
  states: v.number(),
  events: v.number(),
});
const names = v.record(v.string(), v.string());
const node = v.strictObject({
  id: v.string(),
  final: v.boolean(),
  initial: v.boolean(),
  parent: v.optional(v.string()),
  parallel: v.optional(v.literal(true)),
  entry: v.optional(v.array(v.string())),
  exit: v.optional(v.array(v.string())),
  refused: v.optional(names),
});
const edge = v.strictObject({
  from: v.string(),
  to: v.string(),
  event: v.string(),
  guard: v.optional(v.string()),
  actions: v.array(v.string()),
  refusal: v.optional(v.string()),
});
const cell = v.strictObject({
  event: v.string(),
  kind: v.picklist(['moves', 'stays', 'refused', 'ignored']),
  to: v.optional(v.array(v.string())),
  refusals: v.optional(v.array(v.string())),
});
const point = { x: v.number(), y: v.number() };
const points = v.array(v.strictObject(point));
const label = v.strictObject({ event: v.string(), guard: v.optional(v.string()), ...point, width: v.number() });
const row = v.strictObject({ event: v.string(), guard: v.optional(v.string()), refusal: v.optional(v.string()), y: v.number() });
const size = { width: v.number(), height: v.number() };
const state = v.strictObject({
  id: v.string(),
  label: v.string(),
  parent: v.optional(v.string()),
  final: v.boolean(),
  ...point,
  ...size,
  rows: v.array(row),
});
const drawn = {
  ...size,
  states: v.array(state),
  edges: v.array(v.strictObject({ from: v.string(), to: v.string(), labels: v.array(label), points })),
  start: v.array(v.strictObject({ ...point, to: v.string(), points })),
};
const picture = v.strictObject({
  machine: v.string(),
  version: v.string(),
  ...drawn,
  regions: v.optional(v.array(v.string())),
  outlines: v.array(v.strictObject({ ...drawn, isOutline: v.optional(v.literal(true)) })),
});
const machine = v.strictObject({
  name: v.string(),
  title: v.string(),
  source: v.string(),
  version: v.string(),
  definition: v.strictObject({ id: v.string(), parallel: v.optional(v.literal(true)), nodes: v.array(node), edges: v.array(edge) }),
  table: v.strictObject({ events: v.array(v.string()), rows: v.array(v.strictObject({ state: v.string(), cells: v.array(cell) })) }),
  picture,
});

async function serveMachines(t: TestContext) {
  // Its layout and vault alone are asked for, by who checks the token.
  const layout = prepareDataDir(temporaryDir(t));
  const storage = { layout, vault: openVault(layout.masterKey, undefined) } as unknown as Storage;
  const config = { publicUrl: undefined, operatorToken: OPERATOR_TOKEN, allowPrivateAddresses: false };
  const { base } = await serve(t, machineRoutes, { config, storage });
  return createOperator(base, OPERATOR_TOKEN);
}

const console = await serveMachines(FILE);

test('DIAGRAM-7: GET /machines lists every machine with its version and the size of its table', async () => {
  const { status, json } = await console('GET', '/machines');
  assert.equal(status, 200);
  const { machines } = v.parse(v.strictObject({ machines: v.array(line) }), json);
  assert.deepEqual(
    machines.map(({ name, title, source, version }) => ({ name, title, source, version })),
    MACHINES.map(({ name, title, source, machine }) => ({ name, title, source, version: machineVersion(machine) })),
  );
  const sizeOf = (name: string) => machines.filter((each) => each.name === name).map(({ states, events }) => [states, events]);
  assert.deepEqual(sizeOf('pairing'), [[4, 3]]);
  // One of its thirteen regions, which are alike.
  assert.deepEqual(sizeOf('step-panel'), [[5, 6]]);
});

test('DIAGRAM-7: GET /machines/:machine is definition, table and picture of one version', async () => {
  for (const listed of MACHINES) {
    const { status, json } = await console('GET', `/machines/${listed.name}`);
    assert.equal(status, 200);
    const found = v.parse(machine, json);
    assert.deepEqual([found.name, found.title, found.source], [listed.name, listed.title, listed.source]);
    assert.deepEqual(found.definition, machineGraph(listed.machine));
    assert.deepEqual([found.version, found.picture.version], [machineVersion(listed.machine), machineVersion(listed.machine)]);
    for (const { cells } of found.table.rows) {
      assert.deepEqual(
        cells.map(({ event }) => event),
        found.table.events,
      );
    }
    const drawn = new Set(found.picture.states.map(({ id }) => id));
    for (const { state } of found.table.rows) assert.ok(drawn.has(state), state);
  }
});

test('DIAGRAM-7: an unknown machine is 404 by name', async () => {
  for (const name of ['turn', '..%2fpackage', 'chat-turn.json', 'constructor']) {
    const { status, code, message } = refusal(await console('GET', `/machines/${name}`));
    assert.deepEqual([status, code], [404, 'not_found']);
    assert.match(message, /^There is no machine /);
  }
});
