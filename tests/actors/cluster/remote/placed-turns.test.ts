/** Where a turn is found when another node owns its conversation. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PlacedTurns, type PlacedTurnsServices } from '../../../../actors/cluster/remote/placed-turns.ts';
import { type ConversationSnapshot, OwnedElsewhere } from '../../../../actors/turns/epoch.ts';
import { OwnedTurn, rowsOfApp } from './remote-fixture.ts';

/** What a node takes a conversation with, when its owner says that it is idle; `meanwhile` happens before that answer is read. */
async function takenWith(t: TestContext, meanwhile: (conversationId: string, write: (sql: string) => void) => void) {
  const rows = rowsOfApp(t);
  const { conversationId, turnId } = new OwnedTurn(rows);
  const tried: (ConversationSnapshot | undefined)[] = [];
  const hosted = { conversationId, position: { source: { read: () => ({ text: '', nextSeq: 0, ended: true }) }, fromSeq: 0 } };
  const services = {
    storage: { organisation: () => rows.db },
    members: { self: 'b', probe: async () => 'alive', list: () => [] },
    questions: {
      answer: () => {},
      open: async () => {
        meanwhile(conversationId, (sql) => rows.writer.exec(sql));
        return { answer: 'idle', line: null };
      },
    },
    local: {
      attach: async (_caller: unknown, _turnId: string, snapshot?: ConversationSnapshot) => {
        tried.push(snapshot);
        if (tried.length === 1) throw new OwnedElsewhere({ id: conversationId, owner: 'a' });
        return hosted;
      },
      close: () => {},
    },
  } as unknown as PlacedTurnsServices;
  const turns = new PlacedTurns(services);
  t.after(() => turns.close());
  const caller = { organisationId: 'org_1', appId: rows.appId, channel: 'sandbox', deviceId: 'd', person: null } as const;
  await turns.attach(caller, turnId);
  return tried[1];
}

test('CLUSTER-5: a conversation that its owner calls idle is taken over as its rows have it', async (t) => {
  const snapshot = await takenWith(t, () => {});
  assert.deepEqual([snapshot?.epoch, snapshot?.leftOpen], [1, true]);
});

test('CLUSTER-4, CLUSTER-5: a turn that the owner begins after it said idle is not taken for one that was left open', async (t) => {
  const snapshot = await takenWith(t, (id, write) => write(`UPDATE conversations SET epoch = epoch + 1 WHERE id = '${id}'`));
  assert.equal(snapshot, undefined);
});
