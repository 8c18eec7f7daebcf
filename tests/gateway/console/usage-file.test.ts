import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvField } from '../../../gateway/console/organisations.ts';
import { HANDSHAKE } from '../../support/client.ts';
import { startScriptedChat } from '../runtime/scripted-chat.ts';

test('CONSOLE-35: the days of a month are a file for spreadsheets, of an organisation or of one app of it', async (t) => {
  const it = await startScriptedChat(t);
  const { appId, organisationId } = it.app;
  const renamed = await it.operator('PATCH', `/apps/${appId}`, { name: '=HYPERLINK("http://evil.example","Tea, please")' });
  assert.equal(renamed.status, 200, renamed.text);
  it.script([{ text: 'Two days.' }]);
  await it.say('How long?', { client: HANDSHAKE });
  const path = `/orgs/${organisationId}/usage.csv`;
  const { status, text, headers } = await it.operator('GET', path);
  assert.equal(status, 200, text);
  const day = new Date().toISOString().slice(0, 10);
  assert.match(String(headers['content-type']), /^text\/csv/);
  assert.equal(headers['content-disposition'], `attachment; filename="usage-${organisationId}-${day.slice(0, 7)}.csv"`);
  const [head, row, end] = text.split('\r\n');
  assert.equal(head, 'day,app_id,app,turns,test_turns,spent_usd,failed_usd');
  const name = `"'=HYPERLINK(""http://evil.example"",""Tea, please"")"`;
  assert.match(String(row?.replace(name, 'NAME')), new RegExp(`^${day},${appId},NAME,\\d,\\d,0\\.\\d{6},0\\.000000$`));
  assert.equal(end, '');
  assert.equal((await it.operator('GET', `${path}?app=${appId}`)).text, text);
  assert.equal((await it.operator('GET', `${path}?app=app_none`)).text, `${head}\r\n`);
  assert.equal((await it.operator('GET', `${path}?month=2026-01`)).text, `${head}\r\n`);
  assert.equal((await it.operator('GET', `${path}?month=January`)).status, 400);
  assert.equal((await it.operator('GET', '/orgs/org_none/usage.csv')).status, 404);
});

test('CONSOLE-35: a field is quoted where RFC 4180 asks for it, and is no formula', () => {
  for (const [value, field] of [
    ['Tea shop', 'Tea shop'],
    ['Tea, "green"', '"Tea, ""green"""'],
    ['two\r\nlines', '"two\r\nlines"'],
    [' padded ', '" padded "'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', '"\t\'=1"'],
    [' " "=1', '"\' "" ""=1"'],
    ['a;=1+1', '"a;\'=1+1"'],
    ['a; "=1', '"a;\' ""=1"'],
    ['a|@SUM(A1)', '"a|\'@SUM(A1)"'],
    ['a\n-1', '"a\n\'-1"'],
    ['Tea; green', '"Tea; green"'],
    ['Tea-shop, 2-4', '"Tea-shop, 2-4"'],
    ['＝1', "'＝1"],
    [-1, '-1'],
    ['', ''],
  ] as const) {
    assert.equal(csvField(value), field);
  }
});
