/** A write is sent only while its row says that it is being executed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerCalls } from '../../../actors/turns/server-calls.ts';
import { readInvocationById } from '../../../storage/conversations/invocations.ts';
import { NOW, readToEnd, ScriptedModel, turnsWorld } from './world.ts';

for (const isExecuting of [true, false]) {
  test(`ACTION-12: a write whose row ${isExecuting ? 'is executing is sent' : 'was given up by another node is not sent, and nothing is stored of it'}`, async (t) => {
    const world = await turnsWorld(t);
    const model = new ScriptedModel(() => ({ toolCalls: [{ id: 'call_1', name: 'cancel', arguments: '{}' }] }));
    const said = await world.node('here', model).accept(world.command({ message: { text: 'Cancel it' } }));
    const end = (await readToEnd(said.position)).at(-1);
    const [{ invocation_id: id }] = (end?.data.pending ?? []) as [{ invocation_id: string }];
    const read = () => {
      const row = readInvocationById(world.db, id);
      assert.ok(row !== undefined);
      return row;
    };
    const change = { id, from: read().state, to: 'executing', result: null, error: null, expiresAtMs: null } as const;
    await world.storage.write(world.organisationId, 'settleInvocations', { settlements: [{ change, card: null }], nowMs: NOW });
    const row = read();
    assert.equal(row.state, 'executing');
    const given = { ...change, from: 'executing', to: 'unknown' } as const;
    if (!isExecuting)
      await world.storage.write(world.organisationId, 'settleInvocations', { settlements: [{ change: given, card: null }], nowMs: NOW });
    const work = { question: null, executions: [row], lost: [], left: [], tellsWrite: true };
    const calls = new ServerCalls(world.facts(model, said.conversationId, world.command({ message: { text: 'Yes' } }), { work }));
    await calls.runWrites();
    // The app has no such action any more, so the call fails before anything is sent: how it ended is stored all the same.
    assert.equal(read().state, isExecuting ? 'failed' : 'unknown');
    assert.equal(calls.takeWarnings().length, isExecuting ? 0 : 1, 'whoever reads here is told what the others are told');
  });
}
