/** What docs/runtime.md shows: its commands are run by a shell and its code by what it is written in, as they stand there; what it shows of answers is what the schemas say. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ERROR_TABLE } from '../../../protocol/errors.ts';
import { RUNTIME_BODIES, runtimeSchemas } from '../../../protocol/runtime/schemas.ts';
import { ajv, bySchema } from '../../protocol/schema-agreement.ts';
import { createClient, createOperator, HANDSHAKE, parseEvents, type StreamedEvent } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { snippetsIn, snippetsOf } from '../../support/guide.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { gate, pendingOf, readies, startScriptedChat, thread } from './scripted-chat.ts';

const GUIDE = 'docs/runtime.md';
const RUN_MS = 60_000;
const SOON_MS = 30_000;
const [FIRST = '', ...COMMANDS] = snippetsIn('sh', GUIDE);
/** A picture of one point. */
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64');
const execute = promisify(execFile);

interface Shell {
  readonly dir: string;
  /** What the command of the guide that has these words prints, with the ids of the guide replaced by those that are meant. */
  run(words: string, ids?: Readonly<Record<string, string>>): Promise<string>;
  /** All commands were run. */
  assertAllRan(): void;
}

function openShell(t: TestContext, address: string, key: string, hmac: string): Shell {
  const dir = temporaryDir(t);
  writeFileSync(join(dir, 'receipt.txt'), 'Two lamps, 49.00 EUR.\n');
  const left = new Set(COMMANDS);
  return {
    dir,
    async run(words, ids = {}) {
      const found = COMMANDS.filter((command) => command.includes(words));
      assert.equal(found.length, 1, `one command has ${words}`);
      const [command = ''] = found;
      left.delete(command);
      const own = FIRST.replace('http://127.0.0.1:8787', address).replace('rd_pk_test_…', key);
      const script = Object.entries(ids).reduce((text, [shown, meant]) => text.replaceAll(shown, meant), command);
      assert.ok(
        Object.keys(ids).every((id) => command.includes(id)),
        words,
      );
      const { stdout } = await execute('sh', ['-c', `HMAC=${hmac}\n${own}${script}`], { cwd: dir, timeout: RUN_MS });
      return stdout;
    },
    assertAllRan: () => assert.deepEqual([...left], []),
  };
}

const endOf = (stream: string): StreamedEvent => parseEvents(stream).at(-1) ?? assert.fail(stream);

test('HOUSE-20: each command and each piece of code of the guide runs as it stands there', async (t) => {
  const it = await startScriptedChat(t);
  const { service, app } = it;
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { json } = await operator('GET', `/apps/${app.appId}/identity-secret`);
  const secret = (json as { identity_secret: string }).identity_secret;
  const hmac = createHmac('sha256', secret).update('u_1042').digest('hex');
  const shell = openShell(t, service.baseUrl, app.testKey, hmac);
  const client = createClient(service.baseUrl, app.testKey, '0123456789abcdef0123456789abcdef');

  it.script([{ text: 'Yes, we deliver on Saturdays until 18:00.' }]);
  const first = parseEvents(await shell.run('Do you deliver on Saturdays?'));
  assert.deepEqual([first.at(-1)?.type, first.at(-1)?.status], ['turn.end', 'completed']);
  const again = parseEvents(await shell.run('Last-Event-ID: 4'));
  assert.deepEqual(again, first.slice(5));
  const answer = String(first[0]?.message_id);
  assert.equal(await shell.run('/v1/feedback', { msg_1m7z18be73bs918py5d53epd: answer }), '{"ok":true}');

  const { manifest_hash: hash } = JSON.parse(await shell.run('/v1/apps/manifest')) as { manifest_hash: string };
  const handshake = { ...HANDSHAKE, components: [...HANDSHAKE.components, 'rating'], manifest_hash: hash };
  const say = (text: string) => client.say(text, { client: handshake });
  it.script([{ call: 'get_order_status', args: { order_id: 'A-1042' }, id: 'call_1' }], [{ text: 'It was shipped.' }]);
  const asked = await say('Where is A-1042?');
  const [read] = pendingOf(asked);
  const goneOn = await shell.run('"tool_results"', {
    cnv_1m7z2vktq6e5xfd77myb4e5t: thread(asked),
    inv_1m7z2vkv2845ta01n370184b: read?.invocation_id ?? '',
  });
  assert.equal(endOf(goneOn).status, 'completed', 'the hash of the guide is that of its manifest');

  it.script([{ call: 'move_delivery', args: { order_id: 'A-1042', day: 'monday' }, id: 'call_2' }]);
  const waiting = await say('Deliver A-1042 on Monday, please');
  const card = { inv_1m7z2vkwbfr5ze3d368bf491: pendingOf(waiting)[0]?.invocation_id ?? '' };
  assert.equal((JSON.parse(await shell.run('/edit', card)) as { revision: number }).revision, 2);
  const confirmed = JSON.parse(await shell.run('/confirm', card)) as { status: string; receipt: string };
  assert.equal(confirmed.status, 'confirmed');
  await assertVerifiers(shell.dir, confirmed.receipt, secret);
  const messages = JSON.parse(await shell.run('/messages?limit=2', { cnv_1m7z2vkw2egpg3fha1pf2vsr: thread(waiting) })) as { messages: [] };
  assert.equal(messages.messages.length, 2);
  const listed = JSON.parse(await shell.run('/v1/conversations?limit=1')) as { conversations: []; has_more: boolean };
  assert.deepEqual([listed.conversations.length, listed.has_more], [1, true]);

  it.script([{ call: 'rating', args: { prompt: 'How was it?', scale: 5, style: 'stars' }, id: 'call_3' }], [{ text: 'Thanks.' }]);
  const rated = await say('That was all');
  const block = readies(rated.events).find((each) => each.block_type === 'rating');
  const opinion = { msg_1m7z18be73bs918py5d53epd: String(rated.events[0]?.message_id), blk_1m7z18bhv4r0em59jek6tx5q: block?.id ?? '' };
  assert.equal(await shell.run('/v1/ratings', opinion), '{"ok":true}');

  const { wait, open } = gate();
  it.script([{ text: 'It ' }, { wait }]);
  const running = client.say('Tell me all', { turn_id: '3f0c8a52-6f7e-4d1b-9d0e-0d6f3f6a9b30' });
  await eventually(
    () => it.asked().length === 1,
    SOON_MS,
    () => 'the model is asked',
  );
  assert.equal(await shell.run('/stop'), '{"ok":true,"stopped":true}');
  open();
  assert.equal((await running).events.at(-1)?.stopped, true);

  const upload = JSON.parse(await shell.run('/v1/uploads')) as { size: number };
  assert.equal(upload.size, 22);
  const theme = { surface: '#ffffff', onSurface: '#111111', accent: '#0044cc', onAccent: '#ffffff' };
  await operator('PUT', `/apps/${app.appId}/appearance`, { theme });
  const form = new FormData();
  form.set('file', new Blob([PICTURE], { type: 'image/png' }), 'logo.png');
  const headers = { Authorization: `Bearer ${service.operatorToken}` };
  const logo = await fetch(`${service.baseUrl}/console/api/apps/${app.appId}/logo`, { method: 'POST', headers, body: form });
  assert.equal(logo.status, 200, await logo.text());
  assert.match(await shell.run('/v1/apps/config'), /^HTTP\/1\.1 200 OK\r\n[\s\S]*"available":true/);
  await shell.run('/v1/apps/logo');
  assert.match(readFileSync(join(shell.dir, 'logo'), 'latin1'), /^HTTP\/1\.1 200 OK/);
  const pairing = (await operator('POST', `/apps/${app.appId}/pairings`)).json as { code: string; pairing_id: string };
  const claimed = JSON.parse(await shell.run('/v1/pairings/claim', { '46SD-QS29': pairing.code })) as { pairing_id: string };
  assert.equal(claimed.pairing_id, pairing.pairing_id);
  assert.deepEqual(Object.keys(JSON.parse(await shell.run('/v1/schemas\n')) as object).includes('events'), true);
  await shell.run('/v1/schemas.d.ts');
  assert.match(readFileSync(join(shell.dir, 'assistant-runtime.d.ts'), 'utf8'), /^export /m);

  assert.match(await shell.run('/v1/identify'), /"verified":true/);
  const [signing = '', naming = ''] = snippetsIn('js', GUIDE);
  const made = new Function('createHmac', 'process', 'userId', `return ${signing}`)(
    createHmac,
    { env: { IDENTITY_SECRET: secret } },
    'u_1042',
  );
  assert.equal(made, hmac);
  const named: Record<string, string> = {};
  new Function('headers', 'user', naming)(named, { id: 'u_1042', hmac });
  assert.equal((await client.send('GET', '/v1/conversations', undefined, named)).status, 200);
  shell.assertAllRan();
});

/** The guide's own code takes a receipt of what was agreed to, and none of anything else. */
async function assertVerifiers(dir: string, receipt: string, secret: string): Promise<void> {
  const [, , node = '', ...others] = snippetsIn('js', GUIDE);
  const [python = '', ...more] = snippetsIn('python', GUIDE);
  assert.deepEqual([...others, ...more], [], 'all code of the guide is run here');
  writeFileSync(join(dir, 'verify.mjs'), `${node}\nexport { verifyReceipt };\n`);
  const { verifyReceipt } = (await import(pathToFileURL(join(dir, 'verify.mjs')).href)) as {
    verifyReceipt(receipt: string, secrets: readonly string[], action: string, params: object): { action: string };
  };
  const agreed = { order_id: 'A-1042', day: 'tuesday' };
  assert.equal(verifyReceipt(receipt, ['another', secret], 'move_delivery', agreed).action, 'move_delivery');
  assert.throws(() => verifyReceipt(receipt, [secret], 'move_delivery', { ...agreed, day: 'monday' }), /signed for another call/);
  assert.throws(() => verifyReceipt(receipt, ['another'], 'move_delivery', agreed), /not signed by the service/);
  const ending = `
import sys
receipt, secret = sys.argv[1:]
agreed = {"order_id": "A-1042", "day": "tuesday"}
print(verify_receipt(receipt, ["another", secret], "move_delivery", agreed)["action"])
for secrets, day in ([[secret], "monday"], [["another"], "tuesday"]):
    try:
        verify_receipt(receipt, secrets, "move_delivery", {**agreed, "day": day})
    except ValueError as error:
        print(error)
`;
  writeFileSync(join(dir, 'verify.py'), `${python}${ending}`);
  const { stdout } = await execute('python3', [join(dir, 'verify.py'), receipt, secret], { timeout: RUN_MS });
  assert.equal(stdout, 'move_delivery\nsigned for another call\nnot signed by the service\n');
}

/** How a language runs a file of code, what stands around the code of the guide, and what prints the signature. */
const SIGNERS = {
  js: { command: 'node', file: 'sign.cjs', before: "const user = { id: 'u_1042' };", after: 'process.stdout.write(hmac)' },
  python: { command: 'python3', file: 'sign.py', before: 'class user: id = "u_1042"', after: 'print(signature, end="")' },
  php: { command: 'php', file: 'sign.php', before: '<?php $user = (object) ["id" => "u_1042"];', after: 'echo $hmac;' },
  ruby: { command: 'ruby', file: 'sign.rb', before: 'user = Struct.new(:id).new("u_1042")', after: 'print hmac' },
};

for (const [language, { command, file, before, after }] of Object.entries(SIGNERS)) {
  test(`HOUSE-20, PERSON-1: the guide for pages signs a person in ${language}`, async (t) => {
    const [code = ''] = snippetsIn(language, 'docs/sdk.md', 'Who is signed in');
    const path = join(temporaryDir(t), file);
    writeFileSync(path, `${before}\n${code}\n${after}\n`);
    const running = execute(command, [path], { env: { ...process.env, ASSISTANT_IDENTITY_SECRET: 'secret' }, timeout: RUN_MS });
    const told = await running.catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? undefined : Promise.reject(error)));
    if (told === undefined) return t.skip(`${command} is not installed here`);
    assert.equal(told.stdout, createHmac('sha256', 'secret').update('u_1042').digest('hex'));
  });
}

/** JSON of the guide, without what it leaves out. */
const whole = (text: string): unknown => JSON.parse(text.replaceAll(/,?\s*…\s*(?=[}\]])/g, ''));

test('HOUSE-20: every answer that the guide shows is as the schemas say', () => {
  const schemas = runtimeSchemas();
  const shown = snippetsOf(GUIDE);
  const events = shown.flatMap(({ text }) => Array.from(text.matchAll(/^data: (.*)$/gm), ([, data = '']) => data));
  assert.ok(events.length > 40);
  for (const data of events) {
    const event = whole(data) as { type: keyof typeof schemas.events };
    assert.ok(ajv.validate(schemas.events[event.type], event), `${data}: ${ajv.errorsText()}`);
  }
  const parts: string[] = [];
  for (const { language, text } of shown) {
    if (language !== 'json') continue;
    const body = whole(text) as Record<string, unknown>;
    if (isRecord(body.error)) assert.ok(String(body.error.code) in ERROR_TABLE, text);
    else if (body.client !== undefined) {
      const request = { turn_id: '3f0c8a52-6f7e-4d1b-9d0e-0d6f3f6a9b99', ...body, client: HANDSHAKE };
      assert.deepEqual(bySchema(RUNTIME_BODIES.chat.schema, request), [], text);
    } else if (!Object.values(schemas.replies).some((schema) => ajv.validate(schema, body))) parts.push(Object.keys(body)[0] ?? '');
  }
  // What surrounds a question, a receipt's claims, a message, themes, what is open, and a schema: no answer by itself.
  assert.deepEqual(parts, ['app_state', 'jti', 'id', 'theme', 'open', 'title']);
});

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
