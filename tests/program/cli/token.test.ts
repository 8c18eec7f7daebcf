/** The operator token on the command line. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { dataLayout } from '../../../storage/data-layout.ts';
import { openOperatorToken } from '../../../storage/secrets/operator-token.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { cliFixture } from './fixture.ts';

function minted(t: TestContext): { dataDir: string; file: string; token: string } {
  const dataDir = temporaryDir(t);
  const file = dataLayout(dataDir).operatorToken;
  return { dataDir, file, token: openOperatorToken(file, undefined) };
}

test('RUN-29: token prints what DATA_DIR holds', async (t) => {
  const { dataDir, file, token } = minted(t);
  const { run } = cliFixture({ dataDir });
  assert.deepEqual(await run('token'), { code: 0, stdout: `${token}\n`, stderr: '' });
  assert.deepEqual(JSON.parse((await run('token', '--json')).stdout), { source: file, token });
});

test('RUN-29: token --rotate puts a new one in its place, mode 0600, leaves nothing else behind and does not print it', async (t) => {
  const { dataDir, file, token } = minted(t);
  const { code, stdout, stderr } = await cliFixture({ dataDir }).run('token', '--rotate');
  assert.equal(code, 0);
  const fresh = readFileSync(file, 'utf8').trim();
  assert.match(fresh, /^rd_op_[0-9a-f]{48}$/);
  assert.notEqual(fresh, token);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(dataDir), ['operator-token']);
  assert.match(stdout, /Restart all nodes .*console sessions end/);
  for (const secret of [fresh, token]) assert.ok(!(stdout + stderr).includes(secret));
});

test('RUN-29: OPERATOR_TOKEN is neither printed nor rotated', async (t) => {
  const { dataDir, file, token } = minted(t);
  const operatorToken = 'a-token-that-was-set-outside';
  const { run } = cliFixture({ dataDir, operatorToken });
  const shown = await run('token');
  assert.equal(shown.code, 0);
  assert.match(shown.stdout, /^OPERATOR_TOKEN is set/);
  const refused = await run('token', '--rotate');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /changed where it is set/);
  assert.ok(!JSON.stringify([shown, refused]).includes(operatorToken));
  assert.equal(readFileSync(file, 'utf8').trim(), token);
});

test('RUN-29: no token is minted into a folder that is no data directory', async (t) => {
  const dataDir = join(temporaryDir(t), 'other');
  mkdirSync(dataDir);
  for (const words of [['token'], ['token', '--rotate']]) {
    const { code, stderr } = await cliFixture({ dataDir }).run(...words);
    assert.equal(code, 1);
    assert.match(stderr, /cannot be read .*Set DATA_DIR/);
  }
  assert.ok(!existsSync(dataLayout(dataDir).operatorToken));
});
