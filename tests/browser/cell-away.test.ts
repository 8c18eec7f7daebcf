/** A cell is away: the console of another one says so of what lives there, keeps what was typed, and goes on when it is back. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createOperator, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { redisMissing, startRedis } from '../support/redis.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const AWAY = 'cell a cannot be reached';

test('PAGE-8, NODES-2: a cell is killed in mid-edit: the other one says which, nothing typed is lost, and it is saved once the cell is back', {
  skip: redisMissing(),
}, async (t) => {
  const redis = await startRedis(t);
  const shared = {
    ...{ REDIS_URL: redis.url, MASTER_KEY: randomBytes(32).toString('base64'), OPERATOR_TOKEN: randomBytes(24).toString('base64url') },
    ...{ DEMO: 'off', LOG_LEVEL: 'silent' },
  };
  const cell = async (id: string) => {
    const port = String(await freePort());
    const env = { ...shared, CELL_ID: id, CELL_URL: `http://127.0.0.1:${port}`, PORT: port };
    const dataDir = temporaryDir(t);
    return { start: () => startService(t, { dataDir, env }) };
  };
  const [cellA, cellB] = [await cell('a'), await cell('b')];
  const [a, b] = await Promise.all([cellA.start(), cellB.start()]);
  const { appId } = await createTestApp(a.baseUrl, shared.OPERATOR_TOKEN);
  // A cell reads every few seconds which others there are; one that started first has not met the other yet, and asks nobody for its apps.
  const operator = createOperator(b.baseUrl, shared.OPERATOR_TOKEN);
  await eventually(async () => ((await operator('GET', '/cells')).json as { cells: unknown[] }).cells.length === 2);
  const world = await openWorld(t, b);
  const { page, context } = await world.signedIn(`/console/apps/${appId}/settings`);
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('A shop');
  const nodes = await context.newPage();
  await nodes.goto(`${b.baseUrl}/console/nodes`);
  await waitForPage(nodes, 'Nodes');

  await a.stop('SIGKILL');
  await page.getByRole('button', { name: 'Save changes' }).click();
  const changes = page.getByRole('region', { name: 'Changes' });
  await changes.getByRole('alert').getByText(AWAY).waitFor();
  await look(page, 'cell-away');
  assert.equal(await name.inputValue(), 'A shop');
  await nodes.getByRole('region', { name: 'Cells' }).getByText('away').first().waitFor();
  // Another page of the app, and what lives on the cell that answers.
  await page.getByRole('link', { name: 'Conversations' }).click();
  await page.getByRole('alert').getByText(AWAY).first().waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await waitForPage(page, 'Overview');
  await page.goBack();
  await page.goBack();

  await cellA.start();
  await changes.getByText('Name').first().waitFor();
  assert.equal(await name.inputValue(), 'A shop');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await changes.waitFor({ state: 'detached' });
  const { app } = (await createOperator(a.baseUrl, shared.OPERATOR_TOKEN)('GET', `/apps/${appId}`)).json as { app: { name: string } };
  assert.equal(app.name, 'A shop');
});
