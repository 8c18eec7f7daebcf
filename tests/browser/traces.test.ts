/** Traces in the console: replayed, followed while a turn goes on, found by a request id, saved and opened again, counted. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { pendingOf, type ScriptedChat, startScriptedChat, thread } from '../gateway/runtime/scripted-chat.ts';
import { sendJson, startBackend } from '../support/backend.ts';
import { createOperator, HANDSHAKE, type StreamAnswer } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import type { Play } from '../support/upstream.ts';
import { axeFaults } from './axe.ts';
import { type BrowserWorld, openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const CANCEL: Play = { call: 'cancel_order', args: { id: '7' }, id: 'call_cancel' };
const MANIFEST = {
  version: '1',
  actions: [
    {
      name: 'cancel_order',
      description: 'Cancels an order.',
      risk: 'write',
      confirm_template: 'Cancel order {id}?',
      params: { id: { type: 'string', required: true } },
    },
  ],
};

/** Whether the whole picture is within its frame. */
const WHOLE = `(() => {
  const frame = document.querySelector('.drawing-frame').getBoundingClientRect();
  const inside = (one) => one.left >= frame.left && one.right <= frame.right && one.top >= frame.top && one.bottom <= frame.bottom;
  return [...document.querySelectorAll('.drawing .state-box')].every((box) => inside(box.getBoundingClientRect()));
})()`;

const TITLE = '“Cancel order 7.”';

interface AskedTurn {
  readonly it: ScriptedChat;
  readonly world: BrowserWorld;
  readonly turnId: string;
  readonly asked: StreamAnswer;
  /** The person agrees: the call is done, and the next turn answers. */
  agree(): Promise<void>;
}

/** A turn that waits for a person to confirm a write. */
async function askedTurn(t: TestContext): Promise<AskedTurn> {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const { json } = await it.client.send('POST', '/v1/apps/manifest', { manifest: MANIFEST, sdk: 'web/0.50.0' });
  const more = { client: { ...HANDSHAKE, manifest_hash: (json as { manifest_hash: string }).manifest_hash } };
  it.script([CANCEL], [{ text: 'It is cancelled.' }]);
  const turnId = randomUUID();
  const asked = await it.say('Cancel order 7.', { ...more, turn_id: turnId });
  assert.equal(asked.events.at(-1)?.status, 'awaiting_confirmation');
  const [call] = pendingOf(asked);
  const agree = async () => {
    const result = { invocation_id: call?.invocation_id, status: 'ok', confirmed: true, result: { cancelled: true } };
    await it.chat({ ...more, conversation_id: thread(asked), tool_results: [result] });
  };
  return { it, world, turnId, asked, agree };
}

const steps = (page: Page) => page.getByRole('region', { name: 'Steps' });
const shown = (page: Page) => steps(page).locator('[aria-current="step"]');
const happened = (page: Page) => page.getByRole('region', { name: 'What happened here' });

test('REPLAY-1, REPLAY-2, REPLAY-3: a turn that waits is followed while it goes on, then stepped back to its beginning by keys', async (t) => {
  const { it, world, turnId, agree } = await askedTurn(t);
  const { page } = await world.signedIn(`/console/traces/${it.app.appId}?turn_id=${turnId}`);
  await waitForPage(page, TITLE);
  await steps(page).getByText('awaiting_confirmation').first().waitFor();
  await page.getByText('following', { exact: true }).waitFor();
  await agree();
  await steps(page).getByText('turn.resumed').waitFor();
  await steps(page).getByText('succeeded').waitFor();
  const count = await steps(page).getByRole('listitem').count();
  await page.getByText(`${count} of ${count}`).waitFor();
  await page
    .locator('.chip')
    .filter({ hasText: /^done$/ })
    .waitFor();
  await page.waitForFunction(WHOLE);
  const rows = page.getByRole('list', { name: 'Where the time went' });
  for (const words of ['Admission', 'Model to first word', 'Saved', 'Total']) await rows.getByText(words).first().waitFor();
  await rows.getByText('slowest').waitFor();
  await page.getByRole('list', { name: 'What the colours say' }).getByText('saved').waitFor();
  await look(page, 'trace');
  const before = (await page.locator('.drawing').boundingBox())?.width ?? 0;
  await page.keyboard.press('w');
  await steps(page).waitFor({ state: 'hidden' });
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'hidden' });
  assert.ok(((await page.locator('.drawing').boundingBox())?.width ?? 0) > 1.5 * before);
  assert.ok(before > 1_360 / 2, 'the picture has most of the window');
  await page.waitForFunction(WHOLE);
  await look(page, 'trace-wide');
  await page.keyboard.press('w');
  await steps(page).waitFor();
  await page.locator('.state.is-active').first().waitFor();
  for (let at = count - 1; at > 0; at -= 1) {
    await page.keyboard.press('ArrowUp');
    await page.getByText(`${at} of ${count}`).waitFor();
  }
  await shown(page).getByText('turn.open').waitFor();
  await happened(page).getByText('leavesConfirmationsWaiting').or(happened(page).getByText('otherwise')).first().waitFor();
  await happened(page).getByText('It performs no effect.').waitFor();
  await happened(page).getByText('turn.start', { exact: true }).waitFor();
  await happened(page).getByText('by commit 1').waitFor();
  await happened(page).getByText('round 1, asked').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('step'), '1');
  await page.reload();
  await shown(page).getByText('turn.open').waitFor();
  assert.deepEqual(await axeFaults(page), []);
});

test('REPLAY-1: from the request id of a log line to the stepped turn in two clicks', async (t) => {
  const { world, asked } = await askedTurn(t);
  const { page } = await world.signedIn('/console');
  await page.getByRole('link', { name: 'Traces' }).click();
  await waitForPage(page, 'Traces');
  const field = page.getByLabel('A request id from a log line');
  await field.fill('nothing-like-that');
  await page.getByRole('button', { name: 'Show its steps' }).click();
  await page.getByText('Nothing is kept of nothing-like-that.').waitFor();
  await field.fill(String(asked.headers['x-request-id']));
  await page.getByRole('button', { name: 'Show its steps' }).click();
  await waitForPage(page, TITLE);
  await shown(page).waitFor();
});

test('REPLAY-1, TRACE-9: a write that failed at the app’s backend is traced from its log line in two clicks', async (t) => {
  const backend = await startBackend(t);
  backend.answer((_, response) => sendJson(response, { error: 'no' }, 500));
  const it = await startScriptedChat(t, { env: { ALLOW_PRIVATE_ADDRESSES: 'true', LOG_LEVEL: 'info' } });
  const operator = createOperator(it.service.baseUrl, it.service.operatorToken);
  const action = { external_key: 'cancel', name: 'cancel_order', description: 'Cancels an order.', method: 'POST', risk: 'write' };
  const more = {
    confirm_template: 'Cancel order {id}?',
    url_template: `${backend.url}/cancel`,
    auth: 'user',
    params: [{ name: 'id', required: true }],
  };
  const saved = await operator('POST', `/apps/${it.app.appId}/actions`, { items: [{ ...action, ...more }] });
  assert.equal(saved.status, 200, saved.text);
  it.script([CANCEL], [{ text: 'That did not work.' }]);
  const person = { 'X-Service-User-Token': 'token-of-a-person' };
  const first = await it.client.chat({ message: { text: 'Cancel order 7.' } }, person);
  const result = { invocation_id: pendingOf(first)[0]?.invocation_id, status: 'ok', confirmed: true };
  await it.client.chat({ conversation_id: thread(first), tool_results: [result] }, person);
  const lineOf = () =>
    it.service
      .output()
      .stderr.split('\n')
      .find((one) => one.includes('"msg":"http action"'));
  await eventually(async () => lineOf() !== undefined);
  const line = lineOf();
  const { request_id: requestId, outcome } = JSON.parse(line ?? '{}') as { request_id?: string; outcome?: string };
  assert.equal(outcome, 'failed', line);
  const { page } = await (await openWorld(t, it.service)).signedIn('/console');
  await page.getByRole('link', { name: 'Traces' }).click();
  await page.getByLabel('A request id from a log line').fill(requestId ?? '');
  await page.getByRole('button', { name: 'Show its steps' }).click();
  // The person said nothing in it: it goes on with what they agreed to.
  await waitForPage(page, 'Turn, step by step');
  await steps(page).getByText('execution.settled').click();
  await happened(page).getByText('failed', { exact: true }).first().waitFor();
});

/** Where the slider's knob can go, beside the chart: how far the edges are apart, in pixels. */
const EDGES = `(() => {
  const [slider, chart] = ['.scrubber', '.waterfall .span-bars'].map((part) => document.querySelector(part).getBoundingClientRect());
  const knob = parseFloat(getComputedStyle(document.querySelector('.scrubber')).getPropertyValue('--knob'));
  return [slider.left + knob / 2 - chart.left, slider.right - knob / 2 - chart.right].map(Math.abs);
})()`;

/** Rows of the list that are cut at the top or at the bottom of it, or of the chart above its axis. */
const CUT = `(() => [['.scenes', '.scenes > li', undefined], ['.waterfall > ol', '.span-item', '.span-foot']].flatMap(([frame, rows, foot]) => {
  const { top, bottom } = document.querySelector(frame).getBoundingClientRect();
  const end = foot === undefined ? bottom : Math.min(bottom, document.querySelector(foot).getBoundingClientRect().top);
  const isCut = (row) => (row.top < top - 1 && row.bottom > top + 1) || (row.top < end - 1 && row.bottom > end + 1);
  return [...document.querySelectorAll(rows)].map((row) => row.getBoundingClientRect()).filter(isCut).map(({ top }) => top);
}))()`;

test('REPLAY-8: list, axis, bars and slider have one clock and one numbering, and no row is cut', async (t) => {
  const { it, world, asked, agree } = await askedTurn(t);
  await agree();
  const { page } = await world.signedIn(`/console/traces/${it.app.appId}?conversation_id=${thread(asked)}`, { bypassCSP: true });
  await waitForPage(page, TITLE);
  await shown(page).waitFor();
  const count = await steps(page).getByRole('listitem').count();
  const isAt = (number: number) =>
    steps(page)
      .getByText(new RegExp(`^${number} of ${count}`))
      .waitFor();
  const slider = page.getByRole('slider', { name: 'Step' });
  const rows = page.getByRole('list', { name: 'Where the time went' });
  for (const height of [860, 700, 941]) {
    await page.setViewportSize({ width: 1_360, height });
    await page.waitForFunction(`(${CUT}).length === 0`);
    assert.ok(
      ((await page.evaluate(EDGES)) as number[]).every((apart) => apart < 1),
      'the slider is as long as the chart',
    );
  }
  assert.match((await rows.locator('.span-foot').first().textContent()) ?? '', /^Total0 ms/);
  for (const line of [count - 1, 0, 2]) {
    const listed = steps(page).getByRole('listitem').nth(line);
    await listed.getByRole('button').click();
    const since = await listed.locator('.scene-time').textContent();
    assert.equal(await listed.locator('.scene-number').textContent(), String(line + 1));
    await page.locator(`.scrubber[aria-valuetext="Step ${line + 1} of ${count}, ${since}"]`).waitFor();
    await page.waitForFunction(`(${CUT}).length === 0`);
  }
  await slider.press('End');
  await isAt(count);
  await slider.press('ArrowLeft');
  await isAt(count - 1);
  await slider.press('Home');
  await isAt(1);
  await slider.press('End');
  await isAt(count);
  // Each number on the picture is that of a step that leads from state to state.
  const numbers = (await page.locator('.drawing .hit-count text').allTextContents()).filter((words) => /^\d+$/.test(words));
  assert.ok(numbers.includes(String(count)), numbers.join());
  for (const number of numbers) {
    const listed = steps(page)
      .getByRole('listitem')
      .filter({ has: page.getByText(number, { exact: true }) });
    assert.match((await listed.locator('.scene-way').textContent()) ?? '', /^\w+ → \w+$/, number);
  }
  await look(page, 'trace-conversation');
});

test('REPLAY-7: all turns of a conversation are on one picture, each state with how many are in it', async (t) => {
  const { it, world, asked, agree } = await askedTurn(t);
  await agree();
  const { page } = await world.signedIn(`/console/traces/${it.app.appId}?conversation_id=${thread(asked)}`);
  await waitForPage(page, TITLE);
  await page.getByText('Conversation, step by step').waitFor();
  const places = page.getByRole('list', { name: 'Where each instance is' });
  await places.getByText('completed').waitFor();
  await places.getByText('continued').waitFor();
  await page.locator('.ring').nth(1).waitFor();
  assert.equal(await page.locator('.ring').count(), 2);
  assert.deepEqual(await axeFaults(page), []);
});

test('REPLAY-4, REPLAY-5: a trace is saved and opened again from its file; a file that is none is told in one sentence, and one of another version is a table', async (t) => {
  const { it, world, turnId } = await askedTurn(t);
  const { page } = await world.signedIn(`/console/traces?app=${it.app.appId}`);
  const listed = page.getByRole('row').filter({ hasText: turnId });
  await listed.getByText('waits for a yes').waitFor();
  await listed.getByText(/\d m?s$/).waitFor();
  await look(page, 'traces');
  await listed.getByRole('link', { name: 'Cancel order 7.' }).click();
  await waitForPage(page, TITLE);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download trace' }).click();
  const file = await (await downloading).path();
  const damaged = join(temporaryDir(t), 'damaged.json');
  writeFileSync(damaged, '{ "format": "machine-trace" }');
  await page.goto(`${world.service.baseUrl}/console/traces/file`);
  await waitForPage(page, 'A trace from a file');
  await page.locator('input[type=file]').setInputFiles(damaged);
  await page.getByRole('alert').waitFor();
  await page.locator('input[type=file]').setInputFiles(file);
  await shown(page).waitFor();
  await page.locator('.state.is-active').first().waitFor();
  assert.deepEqual(await axeFaults(page), []);
  const older = join(temporaryDir(t), 'older.json');
  writeFileSync(older, readFileSync(file, 'utf8').replace(/"version":"[0-9a-f]{16}"/, '"version":"0123456789abcdef"'));
  await page.reload();
  await page.locator('input[type=file]').setInputFiles(older);
  await page.getByText('Made by version').waitFor();
  await page.getByRole('row').filter({ hasText: 'here' }).first().waitFor();
});

test('REPLAY-6: the picture and the table of a machine tint what traffic has hit and mark what was never hit; the address holds the time', async (t) => {
  const { world } = await askedTurn(t);
  const { page } = await world.signedIn('/console/machines/chat-turn');
  await waitForPage(page, 'Chat turn');
  await page.getByText('Coverage', { exact: true }).click();
  await page.locator('.drawing .edge.is-hit-1').first().waitFor({ state: 'attached' });
  await page.locator('.hit-count').getByText('1×').first().waitFor();
  await page.locator('.drawing .edge.is-never').first().waitFor({ state: 'attached' });
  await page.locator('.state.is-never').getByText('completed', { exact: true }).waitFor();
  assert.equal(await page.locator('.state.is-hit').getByText('answering', { exact: true }).count(), 1);
  await page.getByRole('list', { name: 'What the looks say' }).getByText('never').waitFor();
  assert.deepEqual(await axeFaults(page), []);
  await look(page, 'coverage');
  await page.getByLabel('has hit in').selectOption('the last week');
  await page.getByLabel('on the').selectOption('table');
  await page.waitForURL(/hours=168.*on=table/);
  await page.reload();
  await page.locator('.cell.is-hit-1').first().waitFor();
  await page.locator('.cell.is-never').first().getByText('never').waitFor();
  await look(page, 'coverage-table');
  assert.deepEqual(await axeFaults(page), []);
});
