/** The page of nodes: what runs where, what is wrong, and a drain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { organisationMove } from '../../machines/organisation-move.ts';
import { stepper } from '../../machines/step.ts';
import { packSteps, unpackSteps } from '../../machines/trace.ts';
import { traceFileJson } from '../../machines/trace-file.ts';
import { machineVersion } from '../../machines/version.ts';
import { gate, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { axeFaults } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const SINCE = '2026-11-23T10:00:00.000Z';
const HOSTILE = '<img src=x onerror=alert(1)>';

test('NODES-1: nodes and live actors are shown as they change, each actor with its diagram; kind and node are in the address', async (t) => {
  const it = await startScriptedChat(t);
  const { signedIn } = await openWorld(t, it.service);
  const { page } = await signedIn('/console/nodes', { bypassCSP: true });
  await waitForPage(page, 'Nodes');
  await page.getByText('Nothing is known to be wrong.').waitFor();
  await page.getByText('One process, without Redis.').waitFor();
  assert.equal(await page.locator('.facts').getByText('Redis').count(), 1, 'what is not there is not watched');
  await page.getByText('Nothing is at work.').waitFor();
  const { wait, open } = gate();
  it.script([{ text: 'One moment.' }, { wait }, { text: ' Done.' }]);
  const answer = it.say('Take your time');
  const actors = page.getByRole('region', { name: 'At work now' });
  await actors.getByText('answering').waitFor();
  await look(page, 'nodes');
  assert.deepEqual(await axeFaults(page), []);
  await actors.getByLabel('Kind of work').selectOption('setup_session');
  await page.waitForURL(/kind=setup_session/);
  await page.getByText('Nothing is at work.').waitFor();
  await page.goBack();
  await page.getByRole('region', { name: 'Nodes' }).getByRole('link', { name: 'Show only this node' }).click();
  await page.waitForURL(/node=/);
  await actors.getByText('answering').waitFor();
  await actors.getByRole('link', { name: 'Conversation of Test app' }).click();
  await page.waitForURL(/\/console\/traces\/app_.*turn_id=/);
  open();
  await answer;
  await page.getByText('completed').first().waitFor();
});

test('NODES-2: what is wrong is said with what to do, a cell that is away and a move with where they stand; all of it is text', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console', { bypassCSP: true });
  const node = {
    id: 'one~0123abcd',
    name: HOSTILE,
    pid: 7,
    cell: 'a',
    url: null,
    state: 'draining',
    started_at: SINCE,
    actors: 0,
    self: true,
  };
  await page.route('**/console/api/nodes', (route) =>
    route.fulfill({
      json: {
        nodes: [node],
        redis: 'away',
        conditions: [
          { condition: 'organisation_unavailable', since: SINCE, count: 1, about: [{ id: 'org_1', since: SINCE, detail: HOSTILE }] },
          { condition: 'constructor', since: SINCE, detail: 'Of a later release.' },
        ],
        moves: [
          {
            organisation_id: 'org_2',
            move_id: 'mov_1',
            source_cell: 'a',
            target_cell: 'b',
            step: 'sealed',
            error: HOSTILE,
            started_at: SINCE,
          },
        ],
      },
    }),
  );
  const cell = {
    cell: 'b',
    url: 'http://b.example',
    is_this: false,
    seen_at: SINCE,
    placed_organisations: 2,
    reachable: false,
    fault: 'It does not answer.',
  };
  await page.route('**/console/api/cells', (route) => route.fulfill({ json: { cell: 'a', cells: [cell], map_synced_at: SINCE } }));
  await page.getByRole('link', { name: 'Nodes' }).click();
  await waitForPage(page, 'Nodes');
  const wrong = page.getByRole('region', { name: 'What is wrong' });
  await wrong.getByText('See “A file is missing or damaged” in docs/backups.md.').waitFor();
  await wrong.getByText('Of a later release.').waitFor();
  await page.getByText('Redis is away').waitFor();
  assert.equal(await page.getByText(HOSTILE).count(), 4);
  await page.getByRole('region', { name: 'Moves' }).getByText('a → b').waitFor();
  await page.getByRole('region', { name: 'Cells' }).getByText('It does not answer.').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Drain' }).isDisabled());
  await look(page, 'nodes-wrong');
  assert.deepEqual(await axeFaults(page), []);
});

test('REPLAY-1: a move is stepped through from its row on the page of nodes', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console', { bypassCSP: true });
  const move = {
    organisation_id: 'org_2',
    move_id: 'mov_1',
    source_cell: 'a',
    target_cell: 'b',
    step: 'sealed',
    error: null,
    started_at: SINCE,
  };
  await page.route('**/console/api/nodes', (route) =>
    route.fulfill({ json: { nodes: [], redis: 'connected', conditions: [], moves: [move] } }),
  );
  const machine = stepper(organisationMove);
  for (const type of ['move.resumed', 'source.sealed'] as const) machine.send({ type });
  const { steps } = unpackSteps(packSteps(machine.takeSteps().made) ?? '');
  const trace = traceFileJson({ machine: 'organisation-move', version: machineVersion(organisationMove), instance: 'mov_1', steps });
  await page.route('**/console/api/orgs/org_2/move/trace', (route) =>
    route.fulfill({ json: { traces: [{ request_id: null, mixed_versions: false, nodes: ['', ''], trace }] } }),
  );
  await page.getByRole('link', { name: 'Nodes' }).click();
  await page.getByRole('region', { name: 'Moves' }).getByRole('link', { name: 'Step by step' }).click();
  await waitForPage(page, 'Move, step by step');
  const list = page.getByRole('region', { name: 'Steps' });
  await list.getByText('begun → sealed').waitFor();
  await page.keyboard.press('ArrowUp');
  await list.locator('[aria-current="step"]').getByText('move.resumed').waitFor();
  assert.deepEqual(await axeFaults(page), []);
});

test('NODES-3: a node is drained once a person has said yes; a service that is away leaves what is shown', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/nodes');
  const drain = page.getByRole('button', { name: 'Drain… node' });
  await page.getByText('Takes it out of service: its turns end first.').waitFor();
  await drain.click();
  await page.getByText('It is the only node').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await drain.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Drain it' }).click();
  await page.getByRole('alert').first().waitFor();
  assert.ok(await page.getByRole('region', { name: 'Nodes' }).isVisible());
});
