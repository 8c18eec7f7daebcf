/** A process that starts on the directory named by its argument: `mint` waits for a word and mints, `hold` keeps the lock of the start. */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { dataLayout } from '../../../storage/data-layout.ts';
import { openOperatorToken } from '../../../storage/secrets/operator-token.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import { withStartLock } from '../../../storage/sqlite/lock.ts';

const [dir = '', task] = process.argv.slice(2);

if (task === 'hold') {
  await withStartLock(dir, async () => {
    writeSync(1, 'holding\n');
    await once(process.stdin.resume(), 'close');
  });
} else {
  const layout = dataLayout(dir);
  writeSync(1, 'ready\n');
  await once(process.stdin, 'data');
  // What two master keys have in common is nothing.
  const digest = openVault(layout.masterKey, undefined).digest('test', Buffer.from('same')).toString('hex');
  const token = openOperatorToken(layout.operatorToken, undefined);
  writeSync(1, `${digest} ${token.digest} ${token.minted ?? 'by another'}\n`);
  process.exit(0);
}
