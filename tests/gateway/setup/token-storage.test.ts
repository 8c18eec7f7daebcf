/** The service stores only the hash of a setup token; neither the token nor a file code is written anywhere else. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AGENT, createAgent, fetchFile, tokenIn } from '../../support/setup-agent.ts';
import { startSetup } from './setup-app.ts';

const setup = await startSetup({ LOG_LEVEL: 'trace' });
const { baseUrl, dataDir } = setup.service;

/** Every file of the data directory, the write-ahead logs included. */
function storedBytes(): Buffer {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
}

const sha256 = (secret: string) => createHash('sha256').update(secret).digest('hex');

test('SETUP-14: of a token and a code only hashes are in the data directory, and nothing is in the log', async () => {
  const app = await setup.app();
  const { code } = await app.open();
  const token = tokenIn((await fetchFile(baseUrl, code)).text);
  const agent = createAgent(() => baseUrl, token);
  // Each of these could end up in a log line.
  await agent.send('GET', '/status');
  await fetchFile(baseUrl, code);
  await agent.get('POST', '/start', AGENT);
  await agent.get('POST', '/events', { step: 'discover', status: 'done' });
  await agent.send('POST', '/events', '{');
  await agent.get('POST', '/complete', { summary: 'Done.' });
  await agent.send('GET', '/status');

  const stored = storedBytes();
  for (const secret of [token, code]) assert.ok(stored.includes(sha256(secret)), 'the hash is where the secret would be');
  const { stdout, stderr } = setup.service.output();
  assert.match(stderr, /listening/);
  for (const hex of [token.slice('rd_st_'.length), code]) {
    for (const form of [hex, hex.toUpperCase(), Buffer.from(hex).toString('base64'), Buffer.from(hex, 'hex').toString('base64')]) {
      assert.ok(!stored.includes(form) && !stdout.includes(form) && !stderr.includes(form), `${form} was written`);
    }
    assert.ok(!stored.includes(Buffer.from(hex, 'hex')));
  }
});
