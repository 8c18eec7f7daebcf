/** What a person asks before a start: what is in force, and what of it will not do. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { cliFixture } from './fixture.ts';

const SECRET = 'k'.repeat(24);

test('RUN-41: config says of each variable what is in force and where it came from, and shows no secret', async () => {
  const env = { OPERATOR_TOKEN: SECRET, REDIS_URL: 'redis://me:hidden@127.0.0.1:6379', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', PORT: '' };
  const { run } = cliFixture({}, 0, env);
  const { code, stdout } = await run('config', '--json');
  assert.equal(code, 0);
  const { settings } = JSON.parse(stdout) as { settings: { name: string; value: string | null; source: string }[] };
  const of = (name: string) => settings.filter((each) => each.name === name).map(({ value, source }) => [value, source]);
  assert.deepEqual(of('OPENAI_BASE_URL'), [['http://127.0.0.1:1/v1', 'environment']]);
  assert.deepEqual(of('MODEL_PROVIDER'), [['openai', 'follows from others']]);
  assert.deepEqual(of('PORT'), [['8787', 'default']]);
  assert.deepEqual(of('SMTP_URL'), [[null, 'unset']]);
  assert.deepEqual(of('OPERATOR_TOKEN'), [[null, 'environment']]);
  assert.deepEqual(of('REDIS_URL'), [[null, 'environment']]);
  const text = (await run('config')).stdout;
  assert.match(text, /OPERATOR_TOKEN +\(set, not shown\) +environment/);
  for (const secret of [SECRET, 'hidden']) assert.ok(!stdout.includes(secret) && !text.includes(secret));
});

test('RUN-42: doctor has no remark about a plain configuration that holds, but what the machine lacks, and leaves nothing behind', async (t) => {
  const dataDir = temporaryDir(t);
  const { code, stdout } = await cliFixture({}, 0, { DATA_DIR: dataDir }).run('doctor', '--json');
  const { findings, remarks } = JSON.parse(stdout) as { findings: { about: string; remark: boolean; says: string }[]; remarks: number };
  assert.deepEqual(readdirSync(dataDir), []);
  // What a machine that runs tests is like: its disk may be slow or full, its limits low.
  const ofMachine = ['disk', 'sync', 'descriptors'];
  assert.deepEqual(
    findings.filter(({ about, remark }) => remark && !ofMachine.includes(about)),
    [],
  );
  assert.equal(code, remarks === 0 ? 0 : 1);
  assert.deepEqual(
    findings.filter(({ about }) => ['data', 'program', 'keys'].includes(about)).map(({ about }) => about),
    ['program', 'data', 'keys'],
  );
});

test('RUN-42: doctor names what will not do: a misspelt variable, a file as folder, servers that do not answer, a key beside the data', async (t) => {
  const file = join(temporaryDir(t), 'file');
  writeFileSync(file, '');
  const nowhere = `127.0.0.1:${await freePort()}`;
  const env = {
    DATA_DIR: join(file, 'data'),
    MASTR_KEY: 'x',
    REDIS_URL: `redis://${nowhere}`,
    OPENAI_BASE_URL: `http://${nowhere}/v1`,
    SMTP_URL: `smtp://${nowhere}`,
    PUBLIC_URL: `https://${nowhere}`,
    ALLOW_PRIVATE_ADDRESSES: 'true',
    DEMO: 'on',
  };
  const { code, stdout, stderr } = await cliFixture({}, 0, env).run('doctor');
  assert.equal(code, 1);
  for (const [about, says] of [
    ['variables', 'MASTR_KEY is not read. Is MASTER_KEY meant?'],
    ['data', 'is a file: name a folder in DATA_DIR'],
    ['redis', 'Redis does not answer (.*): see REDIS_URL'],
    ['model', 'does not answer: .*Check OPENAI_BASE_URL'],
    ['mail', '127.0.0.1 does not answer (.*): see SMTP_URL'],
    ['proxy', 'TRUST_PROXY is not set'],
    ['proxy', 'does not answer (.*): start the service and its proxy first'],
    ['keys', 'MASTER_KEY is not set: .*set MASTER_KEY'],
    ['addresses', 'ALLOW_PRIVATE_ADDRESSES opens'],
    ['demo', 'set DEMO=off'],
  ] as const) {
    assert.match(stdout, new RegExp(`^! ${about} .*${says.replaceAll('(', '\\(').replaceAll(')', '\\)')}`, 'm'), stdout);
  }
  assert.match(stderr, /^\d+ remarks: see the lines with an exclamation mark\.$/m);
});

test('RUN-42: doctor asks Redis for its clock, and a replica’s folder', { skip: redisMissing() }, async (t) => {
  const replica = join(temporaryDir(t), 'replica');
  mkdirSync(replica);
  const env = { DATA_DIR: temporaryDir(t), REDIS_URL: (await startRedis(t)).url, REPLICA_URL: `file://${replica}` };
  const { stdout } = await cliFixture({}, 0, env).run('doctor');
  assert.match(stdout, /^ {2}redis +Redis answers\.$/m);
  assert.match(stdout, /^ {2}clock +This clock and that of Redis are \d+ s apart\.$/m);
  assert.match(stdout, /^[ !] replica /m);
});
