/** The operator token on the command line. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { dataLayout } from '../../../storage/data-layout.ts';
import { digestOfToken, openOperatorToken } from '../../../storage/secrets/operator-token.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { cliFixture } from './fixture.ts';

function minted(t: TestContext): { dataDir: string; file: string; token: string } {
  const dataDir = temporaryDir(t);
  const file = dataLayout(dataDir).operatorToken;
  return { dataDir, file, token: openOperatorToken(file, undefined).minted ?? '' };
}

test('RUN-29: token says where the digest lies and how to make another, and shows neither', async (t) => {
  const { dataDir, file, token } = minted(t);
  const { run } = cliFixture({ dataDir });
  const { code, stdout, stderr } = await run('token');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /operator-token holds the digest .*token --rotate makes another/);
  assert.deepEqual(JSON.parse((await run('token', '--json')).stdout), { source: file, token: null });
  for (const secret of [token, digestOfToken(token)]) assert.ok(!stdout.includes(secret));
});

test('RUN-29: token --rotate prints a new one this once, puts its digest in the place of the old one, mode 0600, and leaves nothing else behind', async (t) => {
  const { dataDir, file, token } = minted(t);
  const { code, stdout, stderr } = await cliFixture({ dataDir }).run('token', '--rotate');
  assert.equal(code, 0);
  const fresh = stdout.trim();
  assert.match(fresh, /^rd_op_[0-9a-f]{48}$/);
  assert.notEqual(fresh, token);
  assert.equal(readFileSync(file, 'utf8').trim(), digestOfToken(fresh));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(dataDir), ['operator-token']);
  assert.match(stderr, /shown once\. Restart all nodes .*\nAll console sessions end/);
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
  assert.equal(readFileSync(file, 'utf8').trim(), digestOfToken(token));
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
