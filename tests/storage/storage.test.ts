/** Everything is bounded, also the files that are open; a bound must not be felt by who is in the middle of something. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintId } from '../../protocol/ids.ts';
import { readSession } from '../../storage/setup/setup-sessions.ts';
import { openStorage } from '../../storage/storage.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

test('STORE-6: a reader that is held while many other organisations are read still reads', async (t) => {
  const storage = openStorage({ dataDir: temporaryDir(t), masterKey: undefined, openOrganisationsMax: 2, onFatal: assert.fail });
  t.after(() => storage.close());
  const held = storage.organisation(mintId('org', 1));
  for (let n = 2; n < 6; n++) readSession(storage.organisation(mintId('org', n)), 'ses_none');
  assert.equal(readSession(held, 'ses_none'), undefined);
});
