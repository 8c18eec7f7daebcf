/** Everything is bounded, also the files that are open; a bound must not be felt by who is in the middle of something. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintId } from '../../protocol/ids.ts';
import { readSession } from '../../storage/setup/setup-sessions.ts';
import { openStorage } from '../../storage/storage.ts';
import { storeApp } from '../actors/setup/app-in-storage.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

test('STORE-6: a reader that is held while many other organisations are read still reads', async (t) => {
  const storage = openStorage({ dataDir: temporaryDir(t), masterKey: undefined, openOrganisationsMax: 2, onFatal: assert.fail });
  t.after(() => storage.close());
  const held = storage.organisation(mintId('org', 1));
  for (let n = 2; n < 6; n++) readSession(storage.organisation(mintId('org', n)), 'ses_none');
  assert.equal(readSession(held, 'ses_none'), undefined);
});

for (const shared of [false, true])
  test(`CONSOLE-10, KEY-4: an app that was changed is another from then on, ${shared ? 'by whichever process' : 'in a process that is alone'}`, async (t) => {
    const { organisationId, appId, storage: made } = await storeApp(t, 1);
    const open = () => {
      const storage = openStorage({ dataDir: made.layout.dir, masterKey: undefined, shared, onFatal: assert.fail });
      t.after(() => storage.close());
      return storage;
    };
    const here = open();
    const suspended = () => here.app(organisationId, appId)?.settings.suspended;
    const suspend = (by: typeof here, to: boolean) =>
      by.write(organisationId, 'patchApp', { appId, organisationId, patch: { suspended: to }, nowMs: 1 });
    const first = here.app(organisationId, appId);
    await here.write(organisationId, 'seeDevices', { sightings: [{ appId, deviceId: 'a'.repeat(32) }], nowMs: 1 });
    assert.equal(here.app(organisationId, appId), first);
    await suspend(here, true);
    assert.equal(suspended(), true);
    if (shared) {
      await suspend(open(), false);
      assert.equal(suspended(), false);
    }
    await here.write(organisationId, 'deleteApp', { appId });
    assert.equal(suspended(), undefined);
  });
