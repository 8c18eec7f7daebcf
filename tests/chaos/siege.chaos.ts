/** One organisation's app is attacked, in every way that was found; a client of another organisation notices nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisMissing } from '../support/redis.ts';
import { scaled } from '../support/scale.ts';
import { quantile } from './figures.ts';
import { besiege, told } from './siege.ts';
import { ATTACKS } from './siege-attacks.ts';

const WAIT_MAX_MS = 1_000;
test('SAFE-7: with four workers, no client of another organisation is refused or waits over a second while one app is attacked', {
  skip: redisMissing(),
}, async (t) => {
  const siege = await besiege(t);
  for (const name of Object.keys(ATTACKS)) {
    // One alone: ONLY=pictures
    if (!name.includes(process.env.ONLY ?? '')) continue;
    const besieged = await siege.attack(name, scaled(15_000, 5_000));
    t.diagnostic(told(besieged));
    const { probed, ended } = besieged;
    const machineMs = quantile(probed.control, 1);
    await t.test(name, () => {
      assert.deepEqual(probed.refused, []);
      assert.ok(probed.waits.length > 0 && quantile(probed.waits, 1) - machineMs <= WAIT_MAX_MS, told(besieged));
      assert.equal(ended, 0, 'no worker ends');
    });
  }
});
