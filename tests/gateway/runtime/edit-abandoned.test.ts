/** A card whose change was cut off can be answered again; one that is being changed elsewhere is left alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { EXPIRES_AT_MS, serveAskedRows } from './asked-rows.ts';

test('CONFIRM-16: of those that are being changed only one that stays so is taken for abandoned', async (t) => {
  const rows = await serveAskedRows(t, () => EXPIRES_AT_MS - 60_000);
  const { storage, organisationId } = rows.app;
  const [cutOff = '', changedAgain = '', begun = ''] = rows.add(3, 'pending.editing');
  const write = (sql: string, id: string) => {
    const writer = openWriter(storage.layout.organisation(organisationId));
    writer.statement(sql).run({ id });
    writer.close();
  };
  write(`UPDATE invocations SET state = 'pending.clean' WHERE id = :id`, begun);
  const resumed = rows.confirmations.resume(organisationId, 100);
  // Meanwhile another node finishes one change of a card and begins the next, and begins one of another card.
  write('UPDATE invocations SET revision = revision + 1 WHERE id = :id', changedAgain);
  write(`UPDATE invocations SET state = 'pending.editing' WHERE id = :id`, begun);
  await resumed;
  assert.deepEqual(
    [cutOff, changedAgain, begun].map((id) => rows.seen(id).state),
    ['pending.clean', 'pending.editing', 'pending.editing'],
  );
  await rows.confirmations.resume(organisationId);
  assert.deepEqual(
    [cutOff, changedAgain, begun].map((id) => rows.seen(id).state),
    ['pending.clean', 'pending.clean', 'pending.clean'],
    'at a start of a node that is alone all of them are',
  );
});
