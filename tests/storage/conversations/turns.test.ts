/** The fence that every write of a conversation's owner passes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transactions } from '../../../storage/conversations/turns.ts';
import { OwnedTurn, rowsOfApp } from '../../actors/cluster/remote/remote-fixture.ts';

test('CLUSTER-4: what an owner writes is refused once another node has the conversation, and leaves the rows as they are', (t) => {
  const rows = rowsOfApp(t);
  const turn = new OwnedTurn(rows);
  turn.text('A word.');
  const { conversationId } = turn;
  rows.writer.exec(`UPDATE conversations SET epoch = 2, owner = 'b' WHERE id = '${conversationId}'`);
  const before = turn.row;
  assert.throws(() => turn.beginCommit(true), /the fence refused/);
  assert.deepEqual(turn.row, before);
  const fence = { expectedEpoch: 1, epoch: 1, owner: 'a' };
  assert.equal(transactions.loseExecutions(rows.writer, { conversationId, fence, settlements: [], nowMs: 1 }), false);
  assert.deepEqual(rows.db.statement('SELECT epoch, owner FROM conversations').all(), [{ epoch: 2, owner: 'b' }]);
  assert.deepEqual(rows.db.statement('SELECT count(*) AS blocks FROM blocks').all(), [{ blocks: 0 }]);
});
