/** A write is sent only while its row says that it is being executed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TurnScope } from '../../../actors/turns/scope.ts';
import { ServerCalls } from '../../../actors/turns/server-calls.ts';
import type { InvocationRow } from '../../../storage/conversations/invocations.ts';

const ROW = { id: 'inv_1', name: 'refund_order', params: {}, state: 'executing', definition: null } as unknown as InvocationRow;

for (const isExecuting of [true, false]) {
  test(`ACTION-12: a write whose row ${isExecuting ? 'is executing is sent' : 'was given up by another node is not sent, and nothing is stored of it'}`, async () => {
    const settled: string[] = [];
    const scope = {
      executions: [ROW],
      lost: [],
      conceal: (value: unknown) => value,
      log: { error: (fields: object) => assert.fail(JSON.stringify(fields)) },
      isExecuting: (row: InvocationRow) => row.id === ROW.id && isExecuting,
      receipt: () => undefined,
      // Without a definition the call fails before anything is sent: how it ended is stored all the same.
      settle: async (row: InvocationRow) => void settled.push(row.id),
    };
    const calls = new ServerCalls(scope as unknown as TurnScope);
    await calls.runWrites();
    assert.deepEqual(settled, isExecuting ? [ROW.id] : []);
    assert.equal(calls.takeWarnings().length, isExecuting ? 0 : 1, 'whoever reads here is told what the others are told');
  });
}
