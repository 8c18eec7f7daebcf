/** A chat of a stranger whose field names were made to be searched for long does not stand the process still. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createClient } from '../../support/client.ts';
import { startService } from '../../support/service.ts';

/** /proc counts in hundredths of a second. */
const TICK_MS = 10;
/** The attack took 13 s of it on a quick machine; what a turn takes is some hundredths, and what follows a start is counted, too. */
const CPU_MAX_MS = 6_000;

/** Processor time that the process has used. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

test('PRIVACY-6: a chat of 8 KB with a hostile field name, and such traits of an unsigned person at each turn, cost little', async (t) => {
  const service = await startService(t);
  const client = createClient(service.baseUrl, service.liveKey);
  const hostile = (count: number) => ({
    [` order${'#'.repeat(4_300)}x`]: Array.from({ length: count }, (_, index) => 1_000_000 + index),
  });
  const before = cpuMs(service.pid);
  const asked = await client.say('hello', { context: { app_state: hostile(380) } });
  assert.equal(asked.events.at(-1)?.status, 'completed');
  const known = await client.send('POST', '/v1/identify', { external_user_id: 'u1', traits: hostile(380) });
  assert.equal(known.status, 200, known.text);
  const answered = await client.say('hello again', { user: { id: 'u1' } });
  assert.equal(answered.events.at(-1)?.status, 'completed');
  const spent = cpuMs(service.pid) - before;
  assert.ok(spent < CPU_MAX_MS, `${spent} ms of processor time`);
});
