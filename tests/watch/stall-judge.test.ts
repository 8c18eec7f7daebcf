/** The stall watch of the running program: /metrics shows how late its loop was, and tests fail whose program stood still. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMetrics } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { judgeLoop } from '../support/stall-judge.ts';

test('RUN-13: the program measures its own loop and shows it in /metrics', async (t) => {
  // Every stretch counts as a stall here; what it logs then is part of what is tested.
  const service = await startService(t, { env: { DEMO: 'off', STALL_MS: '10' }, mayStall: 'the bound is 10 ms, to see a line' });
  for (let call = 0; call < 20; call++) await readMetrics(service.baseUrl);
  const metrics = await readMetrics(service.baseUrl);
  assert.ok((metrics.get('assistant_loop_late_p99_seconds') ?? -1) >= 0);
  assert.ok((metrics.get('assistant_loop_late_max_seconds') ?? -1) > 0);
  assert.ok((metrics.get('assistant_loop_longest_cpu_seconds') ?? -1) > 0);
  assert.ok((metrics.get('assistant_loop_stalls_total{by="wall"}') ?? -1) >= 0);
  assert.ok((metrics.get('assistant_loop_stalls_total{by="cpu"}') ?? -1) >= 0);
});

test('HOUSE-7: a test fails whose program stood still, and one with a reason does not', async () => {
  const line =
    '{"level":"warn","late_ms":400,"cpu_ms":390,"ran":[{"what":"POST /v1/chat"}],"msg":"the event loop was blocked by its own work"}';
  const program = { baseUrl: 'http://127.0.0.1:1', pid: 0, running: false, stderr: `first\n${line}\n`, mayStall: undefined };
  await assert.rejects(judgeLoop(program), /POST \/v1\/chat/);
  await judgeLoop({ ...program, mayStall: 'shown on purpose' });
  await judgeLoop({ ...program, stderr: '{"level":"warn","late_ms":400,"cpu_ms":3,"msg":"the event loop was delayed by the machine"}' });
});
