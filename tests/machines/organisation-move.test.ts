import assert from 'node:assert/strict';
import test from 'node:test';
import { getSimplePaths } from 'xstate/graph';
import { machineGraph } from '../../machines/graph.ts';
import {
  type OrganisationMoveEffect,
  type OrganisationMoveEvent,
  type OrganisationMoveState,
  organisationMove,
} from '../../machines/organisation-move.ts';
import { stepper } from '../../machines/step.ts';
import { MOVE_STEPS } from '../../storage/moving/moves.ts';

type EventType = OrganisationMoveEvent['type'];
type Effect = OrganisationMoveEffect['type'];

interface Cell {
  readonly to: OrganisationMoveState;
  readonly does: Effect;
}

const TYPES: readonly EventType[] = ['move.resumed', 'source.sealed', 'target.adopted', 'source.emptied', 'move.aborted'];

const UNDONE: Cell = { to: 'aborted', does: 'undo' };

/** Cells that are missing change nothing and do nothing. */
const TABLE: Record<OrganisationMoveState, Partial<Record<EventType, Cell | OrganisationMoveState>>> = {
  begun: {
    'move.resumed': { to: 'begun', does: 'sealSource' },
    'source.sealed': { to: 'sealed', does: 'sendCopy' },
    'move.aborted': UNDONE,
  },
  sealed: {
    'move.resumed': { to: 'sealed', does: 'sendCopy' },
    'target.adopted': { to: 'switched', does: 'openTarget' },
    'move.aborted': UNDONE,
  },
  switched: { 'move.resumed': { to: 'switched', does: 'openTarget' }, 'source.emptied': 'done' },
  done: {},
  aborted: { 'move.resumed': { to: 'aborted', does: 'undo' } },
};

for (const state of Object.keys(TABLE) as OrganisationMoveState[]) {
  for (const type of TYPES) {
    test(`CELL-12: ${state} × ${type}`, () => {
      const cell = TABLE[state][type] ?? state;
      const step = stepper(organisationMove, { stored: { state, context: {} } }).send({ type });
      assert.equal(step.state, typeof cell === 'string' ? cell : cell.to);
      assert.deepEqual(step.effects, typeof cell === 'string' ? [] : [{ type: cell.does }]);
    });
  }
}

test('HOUSE-5: the steps that rows hold are the states of the machine', () => {
  assert.deepEqual(new Set(machineGraph(organisationMove).nodes.map(({ id }) => id)), new Set(MOVE_STEPS));
});

test('CELL-12: on no way through are both the other cell told to unseal and this one unsealed', () => {
  const paths = getSimplePaths(organisationMove, { events: TYPES.map((type) => ({ type })) });
  const seen = new Set<string>();
  for (const { steps } of paths) {
    const machine = stepper(organisationMove);
    const effects = steps.flatMap(({ event }) => machine.send(event).effects.map(({ type }) => type));
    assert.ok(!(effects.includes('openTarget') && effects.includes('undo')), effects.join(' '));
    for (const effect of effects) seen.add(effect);
    // After the point of no return nothing leads back.
    if (effects.includes('openTarget')) assert.equal(machine.send({ type: 'move.aborted' }).effects.length, 0);
  }
  assert.ok(seen.has('openTarget') && seen.has('undo'));
});
