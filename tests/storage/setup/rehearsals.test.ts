/** Writes that are made and withdrawn: each is refused as it would be, after those before it, and nothing of any stays. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { HttpAction } from '../../../protocol/setup/action-rules.ts';
import { readActionByKey } from '../../../storage/apps/http-actions.ts';
import { countScreens } from '../../../storage/apps/screens.ts';
import { readSourceByKey } from '../../../storage/knowledge/knowledge.ts';
import { type RehearsedWrite, transactions } from '../../../storage/setup/rehearsals.ts';
import { openApp } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

function oneApp(t: TestContext) {
  const { db, appId } = openApp(t, NOW);
  const action = (key: string, name: string): RehearsedWrite => {
    const definition = {
      external_key: key,
      name,
      description: 'Finds.',
      url_template: 'https://api.shop.example/',
      method: 'GET',
      risk: 'read',
    };
    const input = { actionId: `act_${key}`, appId, action: definition as unknown as HttpAction, origin: 'proposal', nowMs: NOW };
    return { name: 'upsertAction', input };
  };
  const archive = (externalKey: string): RehearsedWrite => ({
    name: 'archiveAction',
    input: { appId, externalKey, reason: undefined, nowMs: NOW },
  });
  const rehearse = (...writes: RehearsedWrite[]) => transactions.rehearseWrites(db, { writes }).map((refusal) => refusal?.code ?? 'taken');
  return { db, appId, action, archive, rehearse };
}

test('PROPOSAL-5: a rehearsed write is refused as the write itself, which sees those before it, and none of them stays', (t) => {
  const { db, appId, action, archive, rehearse } = oneApp(t);
  const writes = [action('a', 'find'), action('b', 'find'), archive('a'), action('b', 'find'), archive('nobody')];
  assert.deepEqual(rehearse(...writes), ['taken', 'conflict', 'taken', 'taken', 'not_found']);
  assert.equal(readActionByKey(db, appId, 'a'), undefined);
  assert.equal(readActionByKey(db, appId, 'b'), undefined);
  const source = { sourceId: 'kno_1', appId, externalKey: 'help', kind: 'text', title: 'Help', uri: null, content: '' } as const;
  const added: RehearsedWrite = { name: 'addSource', input: { ...source, state: 'pending', origin: 'proposal', reason: null, nowMs: NOW } };
  const known: RehearsedWrite = { name: 'requireSource', input: { appId, externalKey: 'help' } };
  assert.deepEqual(rehearse(known, added, known), ['not_found', 'taken', 'taken']);
  assert.equal(readSourceByKey(db, appId, 'help'), undefined);
});

test('PROPOSAL-1: a rehearsal that fails by a bug leaves nothing either', (t) => {
  const { db, appId, rehearse } = oneApp(t);
  const screens = [{ name: 'cart', title: 'Cart', description: 'What will be bought.' }];
  const declared: RehearsedWrite = { name: 'declareScreens', input: { appId, screens, archive: [], origin: 'proposal', nowMs: NOW } };
  const broken = { name: 'declareScreens', input: { appId } } as unknown as RehearsedWrite;
  assert.throws(() => rehearse(declared, broken), TypeError);
  assert.equal(countScreens(db, appId), 0);
});
