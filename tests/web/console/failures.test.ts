/** What the dock groups of the newest instances of an app. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureGroups } from '../../../web/console/dock/failures.ts';

const of = (machine: string, instance: string, state: string | null, at: number) => ({
  ...{ machine, instance, state, at_ms: at, took_ms: null, words: '', cost_usd: null, failure: null },
});

test('DOCK-1: what failed is grouped by machine and state, the newest first; what goes on or ended well is left out', () => {
  const groups = failureGroups([
    of('chat-turn', 'a', 'failed', 1),
    of('invocation', 'b', 'unknown', 5),
    of('chat-turn', 'c', 'completed', 9),
    of('chat-turn', 'd', 'failed', 4),
    of('setup-session', 'e', null, 7),
  ]);
  assert.deepEqual(
    groups.map(({ machine, state, members }) => [machine, state, members.map(({ instance }) => instance)]),
    [
      ['invocation', 'unknown', ['b']],
      ['chat-turn', 'failed', ['d', 'a']],
    ],
  );
  assert.deepEqual(failureGroups([]), []);
});
