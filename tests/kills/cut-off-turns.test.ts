/** What becomes of a turn whose process ended while it answered, again and again. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { interruption } from '../../actors/turns/turn-rows.ts';
import type { TurnRow } from '../../storage/conversations/turns.ts';
import { createClient, createTestApp, HANDSHAKE } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { follow } from '../support/partial.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';

const POISON = 'This one ends processes.';

test('RUN-9: a turn whose process was killed twice is not tried a third time, and everything else goes on', async (t) => {
  const never = new Promise(() => {});
  // Who answers the poison is killed meanwhile.
  const upstream = await startUpstream(t, ({ messages }) =>
    String(messages.at(-1)?.content).includes(POISON) ? [{ text: 'Let me' }, { wait: never }] : [{ text: 'Hello.' }],
  );
  const dataDir = temporaryDir(t);
  const env = { ...upstreamEnv(upstream), DEMO: 'off' };
  const turn = { turn_id: randomUUID(), message: { text: POISON } };
  let key = '';
  for (const asked of [1, 2]) {
    const service = await startService(t, { dataDir, env });
    if (key === '') key = (await createTestApp(service.baseUrl, service.operatorToken)).liveKey;
    const answer = follow(service.baseUrl, key, turn, () => {});
    await eventually(() => upstream.requests.length === asked);
    await service.stop('SIGKILL');
    assert.equal(await answer, false);
  }
  const service = await startService(t, { dataDir, env });
  const client = createClient(service.baseUrl, key);
  for (const _again of [1, 2]) {
    const { status, events } = await client.chat({ client: HANDSHAKE, ...turn });
    assert.equal(status, 200);
    assert.deepEqual(
      events.slice(-2).map(({ type, code, retryable, status }) => [type, code ?? status, retryable]),
      [
        ['error', 'internal', false],
        ['turn.end', 'error', undefined],
      ],
    );
  }
  assert.equal(upstream.requests.length, 2, 'nobody asked the model a third time');
  assert.match(service.output().stderr, /processes died while they answered this turn/);
  const { events } = await client.say('Hello');
  assert.equal(events.at(-1)?.status, 'completed');
});

test('RUN-9: only an attempt whose process was lost counts against its turn', () => {
  const row = {
    state: 'answering',
    snapshot: JSON.stringify({ attempt: 1, round: 1, waiting: { reads: 0, confirmations: 0 } }),
    nextSeq: 1,
  };
  const ended = (runBy: string, cutOff: number) => {
    const owner = { process: 'here', isLost: (process: string) => process === 'gone' };
    const commit = interruption({ ...row, runBy, cutOff } as TurnRow, { ownership: owner, turnLossesMax: 2, log: { error() {} } });
    const { failure } = JSON.parse(commit.snapshot) as { failure: { retryable: boolean } };
    return { cutOff: commit.cutOff, retryable: failure.retryable };
  };
  assert.deepEqual(ended('gone', 0), { cutOff: true, retryable: true });
  assert.deepEqual(ended('gone', 1), { cutOff: true, retryable: false });
  // Its end could not be stored, e.g. because the disk was full.
  assert.deepEqual(ended('here', 1), { cutOff: false, retryable: true });
  assert.deepEqual(ended('alive elsewhere', 1), { cutOff: false, retryable: true });
});
