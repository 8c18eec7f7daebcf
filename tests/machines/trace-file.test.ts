/** Traces as files: what was written is read, and strangers' files get one sentence. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { chatTurn } from '../../machines/chat-turn.ts';
import { machineGraph } from '../../machines/graph.ts';
import type { KeptEvent, StepCommit, TraceStep } from '../../machines/trace.ts';
import { readTraceFile, type TraceFile, TraceFileError, writeTraceFile } from '../../machines/trace-file.ts';
import { machineVersion } from '../../machines/version.ts';

const payloads: fc.Arbitrary<KeptEvent> = fc
  .record({ name: fc.string({ minLength: 1, maxLength: 12 }), note: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)) })
  .map(({ name, note }) => ({ type: name, note }));

const commits: fc.Arbitrary<StepCommit> = fc.record({
  commit: fc.nat(),
  atMs: fc.nat(),
  frames: fc.array(fc.record({ type: fc.string({ maxLength: 12 }), seq: fc.nat(), count: fc.nat() }), { maxLength: 3 }),
});

/** Steps that follow each other. */
const chains: fc.Arbitrary<readonly TraceStep[]> = fc
  .array(
    fc.record({
      atMs: fc.nat(),
      event: payloads,
      to: fc.string({ minLength: 1, maxLength: 20 }),
      effects: fc.array(payloads, { maxLength: 3 }),
      kept: fc.option(commits),
    }),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((steps) =>
    steps.map(({ kept, ...step }, index) => ({
      ...step,
      ...(kept === null ? {} : { committed: kept }),
      from: steps[index - 1]?.to ?? 'new',
    })),
  );

const EXAMPLE: TraceFile = {
  machine: 'chat-turn',
  version: machineVersion(chatTurn),
  instance: '17',
  definition: machineGraph(chatTurn),
  steps: [{ atMs: 5, event: { type: 'turn.stop' }, from: 'answering', to: 'completed', effects: [{ type: 'abortModel' }] }],
};

function sentenceOf(text: string): string {
  try {
    readTraceFile(text);
  } catch (error) {
    assert.ok(error instanceof TraceFileError, String(error));
    return error.message;
  }
  throw new Error('the file was read');
}

test('TRACE-8: a trace is read back as it was written', () => {
  assert.deepEqual(readTraceFile(writeTraceFile(EXAMPLE)), JSON.parse(JSON.stringify(EXAMPLE)));
  fc.assert(
    fc.property(chains, (steps) => {
      const trace: TraceFile = { machine: 'm', version: '0123456789abcdef', instance: 'i', input: { kind: 'setup' }, steps };
      assert.deepEqual(readTraceFile(writeTraceFile(trace)), JSON.parse(JSON.stringify(trace)));
    }),
  );
});

test('TRACE-8: any text is read or gets one sentence', () => {
  const whole = writeTraceFile(EXAMPLE);
  const damaged = fc
    .record({ at: fc.nat({ max: whole.length }), cut: fc.nat({ max: 9 }), put: fc.string({ maxLength: 5 }) })
    .map(({ at, cut, put }) => whole.slice(0, at) + put + whole.slice(at + cut));
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), damaged), (text) => {
      try {
        readTraceFile(text);
      } catch (error) {
        assert.ok(error instanceof TraceFileError, String(error));
        assert.match(error.message, /^The (?:file is no trace|trace is (?:damaged|of another release)): .+\.$/s);
      }
    }),
    { numRuns: 2_000 },
  );
});

describe('TRACE-8: what is wrong is said', () => {
  const json = JSON.parse(writeTraceFile(EXAMPLE)) as Record<string, unknown>;
  const [step] = json.steps as [Record<string, unknown>];
  const cases: readonly (readonly [name: string, file: unknown, sentence: RegExp])[] = [
    ['another format', { ...json, format: 'har' }, /its format is not/],
    ['a later release', { ...json, format_version: 2 }, /of another release/],
    ['null', null, /its format is not/],
    ['a field more', { ...json, more: 1 }, /a field that traces do not have/],
    ['a version that is none', { ...json, version: 'x' }, /not 16 hex digits/],
    ['no steps', { ...json, steps: [] }, /it has no steps/],
    ['a step without an event', { ...json, steps: [step, { ...step, event: {} }] }, /step 2: an event or effect has no type/],
    ['a step with a field more', { ...json, steps: [{ ...step, more: 1 }] }, /step 1: it is no step/],
    ['steps that do not follow each other', { ...json, steps: [step, step] }, /step 2 begins in another state than step 1/],
  ];
  for (const [name, file, sentence] of cases) {
    test(name, () => assert.match(sentenceOf(JSON.stringify(file)), sentence));
  }

  test('no JSON', () => assert.match(sentenceOf('nothing'), /not JSON/));
});
