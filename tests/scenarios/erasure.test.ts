/** Erased words are in no file afterwards: not in rows, freed pages, write-ahead logs, uploads, nor in a backup that follows. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Client, createClient, createOperator, createTestApp } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const CLI = fileURLToPath(new URL('../../cli.js', import.meta.url));

/** Every file below the folder whose bytes hold one of the words, in whatever case: as `file: word`. */
function filesThatHold(folder: string, words: readonly string[]): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile());
  assert.ok(files.length > 0);
  return files.flatMap((name) => {
    const text = readFileSync(join(folder, name)).toString('latin1').toLowerCase();
    return words.filter((word) => text.includes(word.toLowerCase())).map((word) => `${name}: ${word}`);
  });
}

/** A word that stands nowhere else, and that a stemmer leaves alone. */
const word = (what: string) => `${what}${randomBytes(6).toString('hex')}`;

async function upload(client: Client, text: string, name: string): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([text], { type: 'text/plain' }), `${name}.txt`);
  const answer = await fetch(`${client.baseUrl}/v1/uploads`, { method: 'POST', headers: client.headers, body: form });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { upload_id: string }).upload_id;
}

test('PRIVACY-18: what was erased is in no byte of the data directory, nor of a backup made after', async (t) => {
  const dataDir = temporaryDir(t);
  const service = await startService(t, { dataDir, env: { DEMO: 'off' } });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const person = { device: 'a'.repeat(32), user: word('user') };
  const words = Object.fromEntries(
    ['said', 'context', 'trait', 'reason', 'attached', 'filename', 'unused', 'mail', 'result', 'later'].map((what) => [what, word(what)]),
  ) as Record<string, string>;
  const client = createClient(service.baseUrl, app.testKey, person.device);
  const other = createClient(service.baseUrl, app.testKey, 'b'.repeat(32));

  const identity = { external_user_id: person.user, traits: { plan: words.trait } };
  const identified = await client.send('POST', '/v1/identify', identity);
  assert.equal(identified.status, 200, identified.text);
  const { end_user_id: id } = identified.json as { end_user_id: string };
  let conversationId: string | undefined;
  // Many messages and another person's between them, so that rows move from page to page before they go.
  for (let turn = 0; turn < 25; turn += 1) {
    const attachments = turn === 0 ? [{ upload_id: await upload(client, `Words: ${words.attached}`, words.filename as string) }] : [];
    const text = `${words.said} ${words[turn % 2 === 0 ? 'later' : 'said']} ${turn} Write to ${words.mail}@example.com. ${'Lorem ipsum. '.repeat(turn * 7)}`;
    const context = { screen: { name: 'cart', data: { note: words.context } } };
    const answer = await client.chat({
      message: { text },
      ...(attachments.length > 0 && { attachments }),
      context,
      ...(conversationId !== undefined && { conversation_id: conversationId }),
    });
    assert.equal(answer.events.at(-1)?.type, 'turn.end', answer.text);
    conversationId = String(answer.events[0]?.conversation_id);
    assert.equal((await other.say(`Somebody else speaks, ${turn}. ${'Dolor sit. '.repeat(turn * 5)}`)).events.at(-1)?.type, 'turn.end');
    if (turn > 0) continue;
    const rated = { message_id: answer.events[0]?.message_id, rating: -1, reason: words.reason };
    assert.equal((await client.send('POST', '/v1/feedback', rated)).status, 200);
  }
  await upload(client, `Never attached: ${words.unused}`, words.unused as string);

  const knowledge = { kept: word('zzkept'), replaced: word('zzreplaced'), deleted: word('zzdeleted') };
  const add = async (key: string, content: string) => {
    const items = [{ external_key: key, kind: 'text', title: key, content }];
    assert.equal((await operator('POST', `/apps/${app.appId}/knowledge`, { items })).status, 200);
  };
  await add('one', `It says ${knowledge.replaced} and ${knowledge.kept}.`);
  await add('one', `It says ${knowledge.kept}.`);

  assert.ok(filesThatHold(dataDir, Object.values(words)).length > 0, 'the words were written somewhere');
  assert.ok(filesThatHold(dataDir, [knowledge.kept]).length > 0);
  const erased = await operator('DELETE', `/apps/${app.appId}/end-users/${id}`);
  assert.equal(erased.status, 200, erased.text);

  // The device itself is nobody's name, and counts as a device that was seen.
  const gone = [...Object.values(words), person.user, id, String(conversationId)];
  assert.deepEqual(filesThatHold(dataDir, gone), [], 'while the service runs');
  const backup = join(temporaryDir(t), 'backup');
  const made = spawnSync(process.execPath, [CLI, 'backup', backup], { env: { ...process.env, DATA_DIR: dataDir }, encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  assert.deepEqual(filesThatHold(backup, [...gone, knowledge.replaced]), [], 'in a backup made after');

  assert.ok((await operator('DELETE', `/apps/${app.appId}`)).status < 300);
  assert.deepEqual(filesThatHold(dataDir, [...gone, ...Object.values(knowledge)]), [], 'with the app goes its knowledge');
  await service.stop();
  assert.deepEqual(filesThatHold(dataDir, [...gone, ...Object.values(knowledge)]), [], 'after a stop');
});
