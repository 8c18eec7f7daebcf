/** The version of a machine changes with its definition, and with nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyStateMachine, createMachine } from 'xstate';
import { MACHINES } from '../../machines/index.ts';
import { machineVersion } from '../../machines/version.ts';

interface Variant {
  readonly guard?: string;
  readonly target?: string;
  readonly actions?: string;
  readonly exit?: string;
  readonly refused?: string;
  readonly event?: string;
  readonly final?: boolean;
}

function door({
  guard = 'isAllowed',
  target = 'open',
  actions = 'ring',
  exit = 'lock',
  refused = 'shut',
  event = 'push',
  final = false,
}: Variant = {}) {
  return createMachine({
    id: 'door',
    initial: 'closed',
    states: {
      closed: { exit, meta: { refused: { pull: refused } }, on: { [event]: { guard, target, actions } } },
      open: final ? { type: 'final' } : {},
      broken: {},
    },
  });
}

test('DIAGRAM-9: a version is 16 hex digits, the same for the same definition', () => {
  assert.match(machineVersion(door()), /^[0-9a-f]{16}$/);
  assert.equal(machineVersion(door()), machineVersion(door()));
  const once = door();
  assert.equal(machineVersion(once), machineVersion(once));
});

test('DIAGRAM-9: another target, guard, action, event, kind of state or refusal is another version', () => {
  const variants: readonly Variant[] = [
    {},
    { guard: 'isOpen' },
    { target: 'broken' },
    { actions: 'sing' },
    { exit: 'unlock' },
    { refused: 'stuck' },
    { event: 'kick' },
    { final: true },
  ];
  const versions = variants.map((variant) => machineVersion(door(variant)));
  assert.equal(new Set(versions).size, variants.length);
});

test('DIAGRAM-9: what a guard or an action does is code, which a version does not see; a new name of one is seen', () => {
  const providing = (guards: Record<string, () => boolean>): AnyStateMachine => door().provide({ guards } as never);
  const allowing = machineVersion(providing({ isAllowed: () => true }));
  assert.equal(machineVersion(providing({ isAllowed: () => false })), allowing);
  assert.notEqual(machineVersion(providing({ isAllowed: () => true, isOpen: () => true })), allowing);
});

test('DIAGRAM-9: no two machines of the service have one version', () => {
  assert.equal(new Set(MACHINES.map(({ machine }) => machineVersion(machine))).size, MACHINES.length);
});
