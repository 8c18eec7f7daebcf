/** The command that replays a trace from a file; it speaks to no service. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chatTurn } from '../../../machines/chat-turn.ts';
import { stepper } from '../../../machines/step.ts';
import { packSteps, type TraceStep, unpackSteps } from '../../../machines/trace.ts';
import { writeTraceFile } from '../../../machines/trace-file.ts';
import { machineVersion } from '../../../machines/version.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { cliFixture } from './fixture.ts';

function stoppedTurn(): readonly TraceStep[] {
  const machine = stepper(chatTurn);
  machine.send({ type: 'turn.open', serverCalls: 0, waiting: { reads: 0, confirmations: 0 } });
  machine.send({ type: 'turn.stop' });
  return unpackSteps(packSteps(machine.takeSteps().made) as string).steps;
}

const ABOUT = { machine: 'chat-turn', version: machineVersion(chatTurn), instance: '1' };

test('TRACE-11: replay prints each step, and fails where this release makes another one', async (t) => {
  const path = join(temporaryDir(t), 'turn.json');
  const steps = stoppedTurn();
  writeFileSync(path, writeTraceFile({ ...ABOUT, steps }));
  const { code, stdout, stderr } = await cliFixture().run('replay', path);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /turn\.open .*new → answering .*sendStart callModel .*same/);
  assert.match(stdout, /All 2 steps are the same\.\n$/);
  const [first, second] = steps as [TraceStep, TraceStep];
  writeFileSync(path, writeTraceFile({ ...ABOUT, steps: [first, { ...second, to: 'failed\u001b[31m' }] }));
  const other = await cliFixture().run('replay', path);
  assert.equal(other.code, 1);
  assert.match(other.stdout, /DIFFERS/);
  assert.match(other.stdout, /Step 2, turn\.stop: the trace goes to failed\?/);
  assert.ok(!other.stdout.includes('\u001b'));
  assert.match(other.stderr, /^The replay differs from the trace\.\n$/);
});

test('TRACE-11: a file that is no trace, of another machine or not there gets one sentence', async (t) => {
  const path = join(temporaryDir(t), 'turn.json');
  for (const [text, said] of [
    ['nothing', /^The file is no trace: it is not JSON\.\n$/],
    [writeTraceFile({ ...ABOUT, machine: 'other', steps: stoppedTurn() }), /^This release has no machine other\.\n$/],
  ] as const) {
    writeFileSync(path, text);
    const { code, stdout, stderr } = await cliFixture().run('replay', path);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, said);
  }
  const { code, stderr } = await cliFixture().run('replay', `${path}.gone`);
  assert.equal(code, 1);
  assert.match(stderr, /cannot be read \(ENOENT\)/);
});
