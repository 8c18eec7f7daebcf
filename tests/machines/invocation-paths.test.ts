import assert from 'node:assert/strict';
import test from 'node:test';
import { type InvocationEvent, invocation } from '../../machines/invocation.ts';
import { INVOCATION_EVENTS, PROFILES, type Profile } from '../../machines/simulator/samples.ts';
import { stepper } from '../../machines/step.ts';
import { INVOCATION_STATES, type InvocationState, isUnsettled } from '../../protocol/runtime/states.ts';
import { CALLERS, invocationPaths, invocationSimplePaths, WRITES } from './paths.ts';

/** The states a way goes through, the first one included. */
function statesOf(profile: Profile, path: readonly InvocationEvent[]): InvocationState[] {
  const machine = stepper(invocation, { input: profile });
  return [machine.state, ...path.map((event) => machine.send(event).state)] as InvocationState[];
}

test('CONFIRM-18: on every way a call settles at most once, and what is settled stays for every event', () => {
  for (const profile of PROFILES) {
    for (const path of invocationSimplePaths(profile)) {
      const states = statesOf(profile, path);
      const settledAt = states.findIndex((state) => !isUnsettled(state));
      if (settledAt < 0) continue;
      assert.equal(settledAt, states.length - 1, JSON.stringify(path));
      const after = [...path, ...Object.values(INVOCATION_EVENTS).flat()];
      assert.equal(
        statesOf(profile, after)
          .slice(settledAt)
          .every((state) => state === states[settledAt]),
        true,
        JSON.stringify(path),
      );
    }
  }
});

test('CONFIRM-18: a write or destructive call is executed only from confirmed, and confirmed only from a clean card', () => {
  for (const profile of PROFILES) {
    let executions = 0;
    for (const path of [...invocationSimplePaths(profile), ...invocationPaths(profile)]) {
      const states = statesOf(profile, path);
      states.forEach((state, at) => {
        const before = states[at - 1];
        if (state === before) return;
        if (state === 'executing') {
          executions += 1;
          assert.equal(before, profile.risk === 'read' ? 'requested' : 'confirmed', JSON.stringify(path));
        }
        if (state === 'confirmed') assert.equal(before, 'pending.clean', JSON.stringify(path));
      });
    }
    assert.equal(executions > 0, profile.executor === 'server', JSON.stringify(profile));
  }
});

test('CONFIRM-9: a write succeeds only after the record says so, or on trust where no record is required', () => {
  for (const profile of WRITES) {
    let onTrust = 0;
    for (const path of [...invocationSimplePaths(profile), ...invocationPaths(profile)]) {
      const states = statesOf(profile, path);
      if (states.at(-1) !== 'succeeded') continue;
      const recorded = path.some((event, at) => event.type === 'confirm' && states[at + 1] === 'confirmed');
      const trusted = path.some(
        (event) => event.type === 'result.received' && event.status === 'ok' && event.confirmed && !event.recordRequired,
      );
      assert.ok(recorded || trusted, JSON.stringify(path));
      if (!recorded) onTrust += 1;
    }
    assert.ok(onTrust > 0);
  }
});

test('HOUSE-6: every state is reached by some caller, and only by those who can', () => {
  const reached = new Map<string, Set<string>>(INVOCATION_STATES.map((state) => [state, new Set()]));
  for (const profile of PROFILES) {
    for (const path of invocationPaths(profile)) {
      for (const state of statesOf(profile, path)) reached.get(state)?.add(JSON.stringify(profile));
    }
  }
  for (const [state, by] of reached) {
    const may = new Set(CALLERS[state as InvocationState].map((profile) => JSON.stringify(profile)));
    assert.ok(by.size > 0, state);
    for (const profile of by) assert.ok(may.has(profile), `${profile} in ${state}`);
  }
});
