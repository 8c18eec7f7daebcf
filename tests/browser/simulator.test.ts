/** Machines stepped by hand in a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { MACHINES } from '../../machines/index.ts';
import { AGENT_STEPS, type AgentStepId, EVENT_STATUSES, type EventStatus, STEP_IDS, type StepId } from '../../protocol/setup/steps.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

function events(page: Page) {
  return page.getByRole('region', { name: 'Events' });
}

async function send(page: Page, type: string): Promise<void> {
  await events(page)
    .getByRole('button', { name: new RegExp(`^${type.replace('.', '\\.')}\\b`) })
    .click();
}

/** Waits until the step that is looked at says so. */
async function says(page: Page, words: string): Promise<void> {
  await page.getByRole('region', { name: 'The step' }).getByText(words).first().waitFor();
}

/** The line of the step that is looked at. */
function shownStep(page: Page) {
  return page.getByRole('region', { name: 'Steps' }).locator('[aria-current="step"]');
}

/** What `page` asks from now on; every page asks from time to time whether something is wrong. */
function askedBy(page: Page): readonly string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/console/api/nodes')) asked.push(request.url());
  });
  return asked;
}

function stateBox(page: Page, id: string) {
  return page.getByRole('button', { name: `${id}, where the machine is`, exact: true });
}

test('WALK-1, WALK-3: a whole setup session is stepped, event by event, and asks the service for nothing', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/setup-session');
  await waitForPage(page, 'Setup session');
  await stateBox(page, 'open').waitFor();
  const asked = askedBy(page);
  await send(page, 'session.call');
  await says(page, 'refuses not_started');
  await send(page, 'session.claim');
  await stateBox(page, 'running').waitFor();
  await says(page, 'admit');
  await says(page, 'agent.tool');
  await send(page, 'session.call');
  await says(page, 'stays');
  await send(page, 'session.complete');
  await stateBox(page, 'completed').waitFor();
  await says(page, 'closePanel');
  await send(page, 'session.call');
  await says(page, 'refuses session_closed');
  assert.ok(
    await events(page)
      .getByRole('button', { name: /^session\.stop/ })
      .isDisabled(),
  );
  assert.deepEqual(asked, []);
});

/** Sends the sample of an event of the panel that stands at `index` among its payloads. */
async function sendSample(page: Page, type: string, index: number): Promise<void> {
  await events(page).getByLabel(`Payload of ${type}`, { exact: true }).selectOption(String(index));
  await send(page, type);
}

/** What an agent that sets an app up reports and writes, and what the service sees, after the claim. */
const SESSION_OF_PANEL: readonly (
  | { readonly step: AgentStepId; readonly said: readonly EventStatus[] }
  | { readonly step: AgentStepId; readonly does: 'step.written' }
  | { readonly step: StepId; readonly does: 'step.observed' }
)[] = [
  { step: 'discover', said: ['started', 'progress', 'done'] },
  { step: 'install', said: ['started', 'done'] },
  { step: 'identity', said: ['started', 'waiting', 'done'] },
  { step: 'appearance', does: 'step.written' },
  { step: 'experience', does: 'step.written' },
  { step: 'knowledge', does: 'step.written' },
  { step: 'screens', does: 'step.written' },
  { step: 'actions', said: ['started', 'done'] },
  { step: 'verify', said: ['started'] },
  { step: 'verify', does: 'step.observed' },
  { step: 'test', said: ['started'] },
  { step: 'test', does: 'step.observed' },
];

async function stepPanelToItsEnd(page: Page): Promise<void> {
  await send(page, 'session.claimed');
  for (const part of SESSION_OF_PANEL) {
    if ('said' in part) {
      const first = AGENT_STEPS.indexOf(part.step) * EVENT_STATUSES.length;
      for (const status of part.said) await sendSample(page, 'step.reported', first + EVENT_STATUSES.indexOf(status));
    } else if (part.does === 'step.written') await sendSample(page, part.does, AGENT_STEPS.indexOf(part.step));
    else await sendSample(page, part.does, STEP_IDS.indexOf(part.step));
  }
  await send(page, 'session.completed');
}

test('WALK-1, WALK-5, WALK-6: all thirteen steps of a session are stepped to their end, and a link leads another browser there', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/step-panel');
  await waitForPage(page, 'Step panel');
  await page.getByRole('button', { name: 'waiting is pending', exact: true }).waitFor();
  const asked = askedBy(page);
  await stepPanelToItsEnd(page);
  const allDone = async (where: Page) => {
    for (const id of STEP_IDS) await where.getByRole('button', { name: `${id} is done`, exact: true }).waitFor();
    assert.match((await shownStep(where).textContent()) ?? '', /session\.completed/);
  };
  await allDone(page);
  assert.deepEqual(asked, []);
  const other = await signedIn(page.url().slice(new URL(page.url()).origin.length));
  await waitForPage(other.page, 'Step panel');
  await allDone(other.page);
  assert.equal(other.page.url(), page.url());
  await other.page.getByRole('button', { name: /^Back/ }).click();
  await other.page.getByRole('button', { name: 'knowledge is done', exact: true }).waitFor();
  await other.page.getByRole('button', { name: 'done is pending', exact: true }).waitFor();
});

test('WALK-1: an event that its guards refuse says which, and on what', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/setup-session');
  await waitForPage(page, 'Setup session');
  await events(page).getByLabel('Payload of session.expire').selectOption('0');
  const item = events(page).getByRole('listitem').filter({ hasText: 'session.expire' }).first();
  for (const words of ['its guards say no', 'isDue', 'event.nowMs 999', 'context.expiresAtMs 1000'])
    await item.getByText(words).first().waitFor();
});

test('WALK-2: a payload of one’s own is sent when it fits, and told what is wrong when it does not', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/pairing');
  await waitForPage(page, 'Pairing');
  await events(page).getByLabel('Payload of pairing.claim').selectOption('own');
  const payload = events(page).getByLabel('Payload of pairing.claim as JSON');
  await payload.fill('{ "nowMs": "late", "watchedUntilMs": 9 }');
  await events(page).getByText('nowMs must be a number.').waitFor();
  await payload.fill('{ "nowMs": 7, "watchedUntilMs": 4711 }');
  await send(page, 'pairing.claim');
  await stateBox(page, 'claimed').waitFor();
  await says(page, '4711');
});

test('WALK-3: going back and forward changes no step; an event from an earlier one takes the place of those after it', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/knowledge-source');
  await waitForPage(page, 'Knowledge source');
  for (const type of ['indexing.began', 'indexing.finished', 'source.archived']) await send(page, type);
  await stateBox(page, 'archived').waitFor();
  await page.getByRole('button', { name: /^Back/ }).click();
  await stateBox(page, 'indexed').waitFor();
  await page.keyboard.press('k');
  await stateBox(page, 'indexing').waitFor();
  await page.keyboard.press('j');
  await stateBox(page, 'indexed').waitFor();
  await send(page, 'source.updated');
  await stateBox(page, 'pending').waitFor();
  assert.match((await shownStep(page).textContent()) ?? '', /^3source\.updated/);
  assert.ok(await page.getByRole('button', { name: /^Forward/ }).isDisabled());
});

test('WALK-4, WALK-6: a click on a state, in the picture or in the table, takes the shortest way there', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/invocation');
  await waitForPage(page, 'Action call');
  await page.getByRole('button', { name: 'Take the shortest way to pending.rejected', exact: true }).press('Enter');
  await stateBox(page, 'pending.rejected').waitFor();
  await page.getByText('Table', { exact: true }).click();
  const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'executing', exact: true }) });
  await row.getByRole('button', { name: 'executing', exact: true }).click();
  await row.getByText('here').waitFor();
});

test('WALK-5: the address opens the same steps again; a damaged one is told in one sentence', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/chat-turn');
  await waitForPage(page, 'Chat turn');
  for (const type of ['turn.open', 'block.completed', 'turn.stop']) await send(page, type);
  await page.keyboard.press('k');
  await shownStep(page).getByText('block.completed').waitFor();
  const address = page.url();
  assert.match(address, /\?steps=[\w.*-]+$/);
  await page.reload();
  await shownStep(page).getByText('block.completed').waitFor();
  assert.equal(page.url(), address);
  await page.getByRole('button', { name: /^Forward/ }).click();
  await shownStep(page).getByText('turn.stop').waitFor();
  await page.goto(`${address.slice(0, -1)}x`);
  await page.getByRole('alert').getByText('The steps in this link cannot be read').waitFor();
  await shownStep(page).getByText('start').waitFor();
});

test('WALK-6: the picture moves by keys, by the wheel and by dragging', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/chat-turn');
  await waitForPage(page, 'Chat turn');
  const picture = page.getByRole('group', { name: /^Picture of chat-turn/ });
  const shown = async () => (await picture.getAttribute('viewBox')) ?? '';
  await page.locator('.drawing-frame[viewBox]').waitFor();
  await picture.focus();
  const changedFrom = (before: string) => page.locator(`.drawing-frame:not([viewBox="${before}"])`).waitFor();
  const pressed = async (key: string) => {
    const before = await shown();
    await page.keyboard.press(key);
    await changedFrom(before);
    return shown();
  };
  await pressed('ArrowRight');
  const fitted = await pressed('0');
  await pressed('+');
  assert.equal(await pressed('0'), fitted);
  const box = await picture.boundingBox();
  assert.ok(box !== null);
  await page.mouse.move(box.x + 20, box.y + box.height - 20);
  await page.mouse.wheel(0, -200);
  await changedFrom(fitted);
  const closer = await shown();
  await page.mouse.down();
  await page.mouse.move(box.x + 120, box.y + box.height - 80);
  await page.mouse.up();
  await changedFrom(closer);
});

test('WALK-6: a machine of equal regions has a matrix, and the picture of one of them', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/step-panel');
  await waitForPage(page, 'Step panel');
  await page.getByRole('button', { name: 'Take the shortest way to knowledge: done', exact: true }).click();
  await page.getByRole('button', { name: 'knowledge is done', exact: true }).waitFor();
  await stateBox(page, 'done').waitFor();
  await page.getByRole('button', { name: 'connected', exact: true }).click();
  await stateBox(page, 'pending').waitFor();
});

/** The words of the picture that are drawn smaller than they were set, and whether the state where the machine is lies in the frame. */
const READ = `(() => {
  const frame = document.querySelector('.drawing-frame');
  const scale = frame.getBoundingClientRect().width / frame.viewBox.baseVal.width;
  const small = [...frame.querySelectorAll('text')].filter((text) => parseFloat(getComputedStyle(text).fontSize) * scale < 10.99);
  const around = frame.getBoundingClientRect();
  const here = frame.querySelector('.state.is-active:not(.is-outer) .state-box').getBoundingClientRect();
  const inside = here.left >= around.left && here.right <= around.right && here.top >= around.top && here.bottom <= around.bottom;
  return JSON.stringify({ small: small.length, inside });
})()`;

test('WALK-6: words of every picture are 11 pixels or more and the active state is in sight, in a window and on a phone, step after step', async (t) => {
  const { signedIn, service } = await openWorld(t);
  const { page } = await signedIn('/console/machines');
  for (const [machine, types] of [
    ['chat-turn', ['turn.open', 'round.finished']],
    ['invocation', ['dispatch', 'expire']],
    ['setup-session', ['session.claim', 'session.complete']],
    ['step-panel', ['session.claimed']],
  ] as const) {
    for (const width of [1_360, 390]) {
      await page.setViewportSize({ width, height: 860 });
      await page.goto(`${service.baseUrl}/console/machines/${machine}`);
      await page.locator('.drawing-frame[viewBox] .state.is-active').first().waitFor();
      for (const type of types) {
        await send(page, type);
        // An upright line has no width, and is not visible by that.
        await page.locator('.edge.is-lit').waitFor({ state: 'attached' });
        await page.waitForFunction(`${READ} === '{"small":0,"inside":true}'`);
      }
    }
  }
});

test('WALK-6: the picture of a panel follows the region that moved, and says what moved it; the events of a large machine are a press away', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/step-panel');
  await waitForPage(page, 'Step panel');
  const caption = page.locator('.drawing-caption');
  await send(page, 'session.claimed');
  await caption.getByText('connected:').waitFor();
  await sendSample(page, 'step.reported', 0);
  await caption.getByText('discover:').waitFor();
  await caption.getByText('active', { exact: true }).waitFor();
  await stateBox(page, 'active').waitFor();
  await page
    .getByRole('row', { name: /^discover/ })
    .and(page.locator('.is-shown'))
    .waitFor();
  const withEvents = page.getByRole('button', { name: 'Events', exact: true });
  assert.equal(await withEvents.getAttribute('aria-pressed'), 'false');
  await withEvents.press('Enter');
  await page.locator('.label.is-lit').getByText('step.reported').waitFor();
});

test('WALK-7: the list of machines says what each decides and tells versions in seven characters, also on a phone', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines', { bypassCSP: true });
  await waitForPage(page, 'Machines');
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  assert.equal(await rows.count(), MACHINES.length);
  assert.equal((await rows.locator('td:nth-child(2)').allTextContents()).filter((words) => words === '').length, 0);
  for (const version of await rows.locator('td:last-child code').all()) {
    const [short, whole] = [await version.textContent(), await version.getAttribute('title')];
    assert.match(whole ?? '', /^[0-9a-f]{16}$/);
    assert.equal(short, whole?.slice(0, 7));
  }
  await look(page, 'machines');
  await page.setViewportSize({ width: 390, height: 780 });
  await page.waitForFunction(FITS);
  await page.getByRole('link', { name: 'Chat turn' }).click();
  await waitForPage(page, 'Chat turn');
  await page.locator('.facts').getByText('One answer:').waitFor();
  await page.waitForFunction(FITS);
});

const FITS =
  'document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll(".scroll-x")].every((part) => part.scrollWidth <= part.clientWidth)';
