/** The command that prints steps as they are committed, beside a running service. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startConsoleApp } from '../../gateway/console/console-app.ts';
import { createClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { cliFixture } from './fixture.ts';

test('TRACE-13: watch prints each step of a turn once, and ends with it', async (t) => {
  const { service, app } = await startConsoleApp(t);
  const turnId = randomUUID();
  const said = await createClient(service.baseUrl, app.testKey).say('Hello', { turn_id: turnId });
  const { run } = cliFixture({ operatorToken: service.operatorToken, publicUrl: service.baseUrl });
  const { code, stdout, stderr } = await run('watch', app.appId, turnId);
  assert.deepEqual([code, stderr], [0, '']);
  const lines = stdout.trimEnd().split('\n');
  assert.match(lines[0] ?? '', /chat-turn \d+ {2}turn\.open {2}new → answering {2}sendStart callModel$/);
  assert.match(lines.at(-1) ?? '', /round\.finished {2}answering → completed {2}endTurn$/);
  const conversation = await run('watch', app.appId, String(said.events[0]?.conversation_id), '--once');
  assert.equal(conversation.stdout, stdout);
  const byRequest = await run('watch', app.appId, String(said.headers['x-request-id']));
  assert.deepEqual([byRequest.code, byRequest.stdout], [0, stdout]);
  const unknown = await run('watch', app.appId, randomUUID());
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /Nothing is kept of this/);
});

test('TRACE-13: watch knows by its id what a source, an app and a pairing are', async (t) => {
  const { service, app, console } = await startConsoleApp(t);
  const item = { external_key: 'shipping', kind: 'text', title: 'Shipping', content: 'Two days.' };
  const added = await console('POST', '/knowledge', { items: [item] });
  assert.ok(added.status < 300, added.text);
  let source = '';
  await eventually(async () => {
    source = /kno_[0-9a-z]+/.exec((await console('GET', '/traces/newest')).text)?.[0] ?? '';
    return source !== '';
  });
  const { pairing_id } = (await console('POST', '/pairings')).json as { pairing_id: string };
  const { run } = cliFixture({ operatorToken: service.operatorToken, publicUrl: service.baseUrl });
  for (const [id, machine] of [
    [source, 'knowledge-source'],
    [app.appId, 'app-lifecycle'],
  ] as const) {
    const { code, stdout, stderr } = await run('watch', app.appId, id, '--once');
    assert.deepEqual([code, stderr], [0, ''], id);
    assert.ok(stdout.includes(`${machine} ${id}`), stdout);
  }
  assert.match((await run('watch', app.appId, pairing_id)).stderr, /Nothing is kept of this/, 'it made no step yet');
});
