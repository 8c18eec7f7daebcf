/** Starts that a person can mend end in one line that says how. */
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriter } from '../../storage/sqlite/database.ts';
import { createTestApp } from '../support/client.ts';
import { startAndFail, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');

async function refusal(...[t, options]: Parameters<typeof startAndFail>): Promise<string> {
  const { code, stderr } = await startAndFail(t, { ...options, env: { DEMO: 'off', ...options.env } });
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^[^\n]+\n$/, 'one line');
  return stderr;
}

test('STORE-9: a directory that was sealed with another key is not served, whether or not a release noted that key', async (t) => {
  const dataDir = temporaryDir(t);
  const env = { DEMO: 'off', MASTER_KEY: keyOf(1) };
  const first = await startService(t, { dataDir, env });
  await createTestApp(first.baseUrl, first.operatorToken);
  await first.stop();
  const sentence = `MASTER_KEY is not the key that ${dataDir} was sealed with. Set the key that it had, or give another DATA_DIR.\n`;
  assert.equal(await refusal(t, { dataDir, env: { MASTER_KEY: keyOf(2) } }), sentence);
  const control = openWriter(join(dataDir, 'control.sqlite'), { mustExist: true });
  control.exec("DELETE FROM installation WHERE name = 'master_key'");
  control.close();
  assert.equal(await refusal(t, { dataDir, env: { MASTER_KEY: keyOf(2) } }), sentence);
  const again = await startService(t, { dataDir, env });
  assert.equal(await again.stop(), 0);
  assert.match(await refusal(t, { dataDir }), /\/master-key is missing, and MASTER_KEY is not set/);
  writeFileSync(join(dataDir, 'master-key'), keyOf(2));
  assert.match(await refusal(t, { dataDir }), /\/master-key is not the key that /);
});

test('STORE-9: an organisation’s file that cannot be read says nothing about the key, and no key is noted that was not tried', async (t) => {
  const dataDir = temporaryDir(t);
  const env = { DEMO: 'off', MASTER_KEY: keyOf(1) };
  const first = await startService(t, { dataDir, env });
  const [empty, whole] = [
    await createTestApp(first.baseUrl, first.operatorToken),
    await createTestApp(first.baseUrl, first.operatorToken),
  ].map(({ organisationId }) => join(dataDir, 'organisations', `${organisationId}.sqlite`)) as [string, string];
  await first.stop();
  const forgetKey = () => {
    const control = openWriter(join(dataDir, 'control.sqlite'), { mustExist: true });
    control.exec("DELETE FROM installation WHERE name = 'master_key'");
    control.close();
  };
  forgetKey();
  writeFileSync(empty, '');
  const another = { MASTER_KEY: keyOf(2) };
  assert.match(await refusal(t, { dataDir, env: another }), /MASTER_KEY is not the key that/);
  const second = await startService(t, { dataDir, env });
  assert.equal(await second.stop(), 0);
  forgetKey();
  renameSync(whole, `${whole}.away`);
  const third = await startService(t, { dataDir, env: { DEMO: 'off', ...another } });
  assert.equal(await third.stop(), 0);
  renameSync(`${whole}.away`, whole);
  const fourth = await startService(t, { dataDir, env });
  assert.equal(await fourth.stop(), 0);
});

test('RUN-2: a folder that cannot be made is named, and the start does not hang', async (t) => {
  const file = join(temporaryDir(t), 'file');
  writeFileSync(file, '');
  const cases = [
    ['/proc/nope', /^The folder \/proc\/nope cannot be made: ENOENT/],
    [file, /^The folder \S+\/file cannot be made: there is a file\.$/m],
    [join(file, 'below'), /^The folder \S+\/file\/below cannot be made: a file is in its way\.$/m],
  ] as const;
  for (const [dataDir, expected] of cases) assert.match(await refusal(t, { dataDir }), expected);
});

test('RUN-2: variables whose names are nearly those of the service are named in the log', async (t) => {
  const env = {
    DEMO: 'off',
    MASTR_KEY: keyOf(1),
    DATADIR: '/srv',
    'log-level': 'info',
    CELL_NAME: 'eu-1',
    HOSTNAME: 'pod-1',
    MAIL: '/var/mail/ada',
  };
  const { output, stop } = await startService(t, { env });
  await stop();
  const said = output()
    .stderr.split('\n')
    .flatMap((line) => (line.includes('is not read') ? [JSON.parse(line).msg as string] : []));
  assert.deepEqual(said.sort(), [
    'CELL_NAME is not read: this service has no such variable.',
    'DATADIR is not read. Is DATA_DIR meant?',
    'MASTR_KEY is not read. Is MASTER_KEY meant?',
    'log-level is not read. Is LOG_LEVEL meant?',
  ]);
});
