/** Frames of the inspector: what viewers are told of a trace, and that they can draw the machine from it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMachine } from 'xstate';
import { chatTurn } from '../../machines/chat-turn.ts';
import { machineGraph } from '../../machines/graph.ts';
import { MACHINES } from '../../machines/index.ts';
import { Inspection, inspectedDefinition } from '../../machines/inspection.ts';
import { stepper } from '../../machines/step.ts';
import { packSteps, type TraceStep, unpackSteps } from '../../machines/trace.ts';

function turnSteps(): readonly TraceStep[] {
  const live = stepper(chatTurn);
  live.send({ type: 'turn.open', serverCalls: 0, waiting: { reads: 0, confirmations: 0 } });
  live.send({ type: 'block.completed', blockId: 'blk_1' });
  live.send({ type: 'turn.stop' });
  return unpackSteps(packSteps(live.takeSteps().made) ?? '').steps;
}

test('INSPECT-3: the definition of each machine is a configuration from which XState makes the same states and ways', () => {
  for (const { machine } of MACHINES) {
    const graph = machineGraph(machine);
    const remade = machineGraph(createMachine(JSON.parse(inspectedDefinition(graph))));
    assert.deepEqual(
      remade.nodes.map(({ id, final, initial, parent }) => ({ id, final, initial, parent })),
      graph.nodes.map(({ id, final, initial, parent }) => ({ id, final, initial, parent })),
      graph.id,
    );
    const ways = ({ edges }: typeof graph) => edges.map(({ from, to, event, guard }) => ({ from, to, event, guard }));
    assert.deepEqual(ways(remade), ways(graph), graph.id);
  }
});

test('INSPECT-3, INSPECT-4: an actor is told with where it is, then a pair of frames for each step; context is what a replay gives', () => {
  const steps = turnSteps();
  const it = new Inspection({ sessionId: 'chat-turn:7', name: 'chat-turn 7', graph: machineGraph(chatTurn), machine: chatTurn });
  const [actor, ...none] = it.tell(steps.slice(0, 1));
  assert.ok(actor?.type === '@xstate.actor');
  assert.deepEqual([actor.snapshot.status, actor.snapshot.value, none.length], ['active', 'answering', 0]);
  assert.deepEqual(it.tell(steps.slice(0, 1)), []);
  const frames = it.tell(steps);
  assert.deepEqual(
    frames.map(({ type }) => type),
    ['@xstate.event', '@xstate.snapshot', '@xstate.event', '@xstate.snapshot'],
  );
  const last = frames.at(-1);
  assert.ok(last?.type === '@xstate.snapshot');
  const fresh = stepper(chatTurn);
  for (const { event } of steps) fresh.send(event as never);
  assert.deepEqual(last.snapshot, { status: 'done', value: 'completed', context: fresh.snapshot.context });
  assert.equal(new Set([actor, ...frames].map(({ id }) => id)).size, 5);
});

test('INSPECT-4: where the machine of this release does otherwise, the states are told without a context', () => {
  const steps = turnSteps().map((step) => (step.to === 'completed' ? { ...step, to: 'failed' } : step));
  const [actor] = new Inspection({ sessionId: 's', name: 'n', machine: chatTurn }).tell(steps);
  assert.ok(actor?.type === '@xstate.actor');
  assert.deepEqual([actor.snapshot.value, actor.snapshot.context, actor.definition], ['failed', {}, undefined]);
});
