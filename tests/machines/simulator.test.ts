/** The simulator without a page: what it says of events is what the machines do, every state has a way, and links are read strictly. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { machineGraph } from '../../machines/graph.ts';
import { MACHINES } from '../../machines/index.ts';
import { payloadFault } from '../../machines/simulator/payload.ts';
import type { SampleEvent } from '../../machines/simulator/samples.ts';
import { beginning, judge, type Moment, moved } from '../../machines/simulator/verdict.ts';
import { momentAfter, type SimulatedMachine, simulatedMachine, WALK_EVENTS_MAX, walked } from '../../machines/simulator/walk.ts';
import { DamagedLink, type LinkedWalk, walkFromText, walkToText } from '../../machines/simulator/walk-link.ts';
import { wayTo } from '../../machines/simulator/way.ts';
import { stepper } from '../../machines/step.ts';

function simulatedNamed(name: string): SimulatedMachine {
  const found = simulatedMachine(name);
  assert.ok(found, name);
  return found;
}

/** What no agent may report: the service alone closes the first two steps. */
const UNREACHABLE = new Set(
  ['waiting.active', 'waiting.failed', 'waiting.skipped', 'connected.active', 'connected.skipped'].map((state) => `step-panel ${state}`),
);

const ALL = MACHINES.map(({ name }) => simulatedNamed(name));

function eventsOf({ samples }: SimulatedMachine): readonly SampleEvent[] {
  return Object.values(samples.events).flat();
}

/** Innermost states. */
function statesOf({ machine }: SimulatedMachine): string[] {
  const { nodes } = machineGraph(machine);
  return nodes.filter(({ id }) => !nodes.some(({ parent }) => parent === id)).map(({ id }) => id);
}

/** A walk of samples, a few steps long. */
function walks(simulated: SimulatedMachine): fc.Arbitrary<LinkedWalk> {
  return fc
    .record({
      input: fc.nat({ max: Math.max(simulated.samples.inputs.length - 1, 0) }),
      events: fc.array(fc.constantFrom(...eventsOf(simulated)), { maxLength: 12 }),
      at: fc.nat({ max: 12 }),
    })
    .map((walk) => ({ ...walk, at: Math.min(walk.at, walk.events.length) }));
}

for (const simulated of ALL) {
  const { name, machine, samples } = simulated;

  test(`WALK-1: ${name}: what is said of an event is what sending it does`, () => {
    fc.assert(
      fc.property(walks(simulated), ({ input, events }) => {
        const running = stepper(machine, samples.inputs[input] === undefined ? {} : { input: samples.inputs[input] });
        let now: Moment = beginning(machine, samples.inputs[input]);
        for (const event of events) {
          const verdict = judge(machine, now, event);
          const before = running.state;
          const { state, effects, snapshot } = running.send(event as never);
          assert.equal(verdict.after.state, state);
          assert.deepEqual(verdict.after.context, snapshot.context);
          assert.deepEqual(verdict.effects, effects);
          const isTaken = verdict.asked.some(({ taken }) => taken !== undefined);
          if (state !== before) assert.equal(verdict.outcome, 'moves');
          if (effects.length > 0) assert.ok(isTaken, JSON.stringify(event));
          // Refused without a transition: by whoever steps it.
          if (!isTaken) assert.ok(['guarded', 'ignored', 'refused'].includes(verdict.outcome), verdict.outcome);
          now = verdict.after;
        }
      }),
      { numRuns: 60 },
    );
  });

  test(`WALK-2: ${name}: each of its events has a sample, and each sample has the form of the others`, () => {
    const types = new Set(machineGraph(machine).edges.map(({ event }) => event));
    assert.deepEqual(new Set(Object.keys(samples.events)), types);
    for (const [type, events] of Object.entries(samples.events)) {
      assert.ok(events.length > 0, type);
      for (const event of events) {
        assert.equal(event.type, type);
        assert.equal(payloadFault(event, events), undefined);
      }
    }
  });

  test(`WALK-4: ${name}: the shortest way leads to each state that its events lead to`, () => {
    for (const state of statesOf(simulated)) {
      const way = wayTo(simulated, beginning(machine, samples.inputs[0]), 0, state);
      if (UNREACHABLE.has(`${name} ${state}`)) assert.equal(way, undefined, state);
      if (UNREACHABLE.has(`${name} ${state}`)) continue;
      assert.ok(way, state);
      const walk = walked(simulated, { input: way.input ?? 0, events: way.events });
      const [region = '', inside] = state.split('.');
      const isThere = ({ state: reached, value }: Moment) =>
        machine.root.type === 'parallel' ? (value as Readonly<Record<string, unknown>>)[region] === inside : reached === state;
      assert.ok(isThere(momentAfter(walk, way.events.length)), state);
      let nearer: readonly Moment[] = [beginning(machine, samples.inputs[way.input ?? 0])];
      for (let steps = 0; steps < way.events.length; steps += 1) {
        assert.ok(!nearer.some(isThere), `${state} is ${steps} steps away`);
        if (steps + 1 < way.events.length) nearer = nearer.flatMap((at) => eventsOf(simulated).map((event) => moved(machine, at, event)));
      }
    }
  });

  test(`WALK-5: ${name}: a walk comes back from its link as it was`, () => {
    fc.assert(
      fc.property(walks(simulated), (walk) => {
        const text = walkToText(simulated, walk);
        assert.ok(text !== undefined);
        assert.match(text, /^[\w.*-]+$/);
        assert.deepEqual(walkFromText(simulated, text), walk);
      }),
      { numRuns: 60 },
    );
  });
}

describe('WALK-1: why', () => {
  const turn = simulatedNamed('chat-turn');
  const open = { type: 'turn.open', serverCalls: 0, waiting: { reads: 0, confirmations: 1 } };

  test('guards are told in the order in which they are asked, up to the one that agrees, with what they looked at', () => {
    const verdict = judge(turn.machine, beginning(turn.machine, undefined), open);
    assert.equal(verdict.outcome, 'moves');
    assert.deepEqual(verdict.asked, [
      {
        region: '',
        questions: [
          { guard: 'hasServerCalls', answer: false, readings: [{ path: 'event.serverCalls', value: 0 }] },
          { guard: 'leavesReadsWaiting', answer: false, readings: [{ path: 'event.waiting.reads', value: 0 }] },
          { guard: 'leavesConfirmationsWaiting', answer: true, readings: [{ path: 'event.waiting.confirmations', value: 1 }] },
        ],
        taken: { from: 'new', to: 'awaiting_confirmation' },
      },
    ]);
  });

  test('an event to which all guards say no, one that nothing listens for, and one that is refused by name are told apart', () => {
    const failure = { code: 'internal', message: 'Broken.', retryable: false };
    const failed: Moment = {
      state: 'failed',
      value: 'failed',
      context: { attempt: 1, round: 1, waiting: { reads: 0, confirmations: 0 }, stopped: false, failure },
    };
    const retry = judge(turn.machine, failed, { type: 'turn.retry' });
    assert.equal(retry.outcome, 'guarded');
    assert.deepEqual(retry.asked[0]?.questions, [
      { guard: 'mayRetry', answer: false, readings: [{ path: 'context.failure.retryable', value: false }] },
    ]);
    assert.equal(judge(turn.machine, failed, { type: 'turn.stop' }).outcome, 'ignored');
    const { machine } = simulatedNamed('setup-session');
    const call = judge(machine, beginning(machine, { kind: 'setup', expiresAtMs: 1_000 }), {
      type: 'session.call',
      nowMs: 1,
      appLive: false,
    } as SampleEvent);
    assert.deepEqual([call.outcome, call.refusal], ['refused', 'not_started']);
  });

  test('the inner state is asked first, and then the one around it', () => {
    const { machine } = simulatedNamed('invocation');
    const context = { risk: 'write', executor: 'client', revision: 1, expiresAtMs: 1_000 };
    const pending: Moment = { state: 'pending.clean', value: { pending: 'clean' }, context };
    const event = { type: 'result.received', status: 'declined', confirmed: false, recordRequired: false };
    const [asked] = judge(machine, pending, event).asked;
    assert.deepEqual(
      asked?.questions.map(({ guard }) => guard),
      ['okByServerOnTrust', 'okOnTrust', 'isOk', 'isDeclined'],
    );
    assert.deepEqual(asked?.taken, { from: 'pending', to: 'declined' });
  });
});

describe('WALK-2: payloads that people write', () => {
  const samples = simulatedNamed('setup-session').samples.events['session.claim'] ?? [];
  const agent = { tool: 'cursor', model: null, os: 'linux' };

  test('fields and types are those of the samples; null only where a sample has it', () => {
    const claim = { type: 'session.claim', agent, nowMs: 5, appLive: true };
    const faultOf = (given: unknown) => payloadFault(given, samples);
    assert.equal(faultOf(claim), undefined);
    assert.equal(faultOf({ ...claim, nowMs: '5' }), 'nowMs must be a number.');
    assert.equal(faultOf({ ...claim, agent: { ...agent, model: 4 } }), 'agent.model must be a text or null.');
    assert.equal(faultOf({ ...claim, agent: { ...agent, tool: null } }), 'agent.tool must be a text.');
    assert.equal(faultOf({ ...claim, agent: { tool: 'x', os: 'y' } }), 'agent.model is missing.');
    assert.equal(faultOf({ ...claim, more: 1 }), 'more is no field of it; there are: type, agent, nowMs, appLive.');
    assert.equal(faultOf({ ...claim, type: 'session.call' }), 'type must be session.claim.');
    assert.equal(faultOf([claim]), 'The payload must be an object.');
    assert.match(faultOf({ ...claim, agent: { ...agent, tool: 'x'.repeat(201) } }) ?? '', /more than 200 characters/);
    assert.match(faultOf({ ...claim, agent: { ...agent, tool: 'x'.repeat(2_001) } }) ?? '', /more than 2000 characters/);
  });

  test('whatever JSON is written, the answer is a sentence or that it fits', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const fault = payloadFault(given, samples);
        assert.ok(fault === undefined || fault.endsWith('.'));
      }),
    );
  });
});

describe('WALK-5: links', () => {
  const invocation = simulatedNamed('invocation');
  const walk: LinkedWalk = {
    input: 2,
    events: [{ type: 'dispatch', expiresAtMs: 77 } as SampleEvent, { type: 'edit.begin' }, { type: 'expire', nowMs: 78 } as SampleEvent],
    at: 2,
  };

  test('a payload of one’s own travels along', () => {
    const text = walkToText(invocation, walk);
    assert.deepEqual(walkFromText(invocation, text ?? ''), walk);
  });

  test('a link with one character changed, cut or added is told in one sentence, and so is any other text', () => {
    const text = walkToText(invocation, walk) ?? '';
    const isDamaged = (other: string) =>
      assert.throws(
        () => walkFromText(invocation, other),
        (error) => error instanceof DamagedLink && /^[^.]+\.$/.test(error.message),
        other,
      );
    for (let at = 0; at < text.length; at++) {
      isDamaged(text.slice(0, at));
      const other = text[at] === 'x' ? 'y' : 'x';
      isDamaged(text.slice(0, at) + other + text.slice(at + 1));
    }
    isDamaged(`${text}.0`);
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (other) => isDamaged(other)));
  });

  test('a link of one machine is none of another', () => {
    const text = walkToText(simulatedNamed('app-lifecycle'), { input: 0, events: [{ type: 'golive.requested' }], at: 1 }) ?? '';
    assert.throws(() => walkFromText(simulatedNamed('pairing'), text), DamagedLink);
  });

  test(`a walk of more than ${WALK_EVENTS_MAX} steps, or one that is too long for an address, has no link`, () => {
    const many = (count: number): LinkedWalk => ({
      input: 0,
      events: Array.from({ length: count }, () => ({ type: 'edit.begin' })),
      at: 0,
    });
    assert.ok(walkToText(invocation, many(WALK_EVENTS_MAX)) !== undefined);
    assert.equal(walkToText(invocation, many(WALK_EVENTS_MAX + 1)), undefined);
    const wide = { type: 'dispatch', expiresAtMs: 1.234567890123456e300 } as SampleEvent;
    assert.equal(walkToText(invocation, { input: 0, events: Array.from({ length: 150 }, () => wide), at: 0 }), undefined);
  });
});
