/** Settings of apps and organisations in the console: changed, refused at the field, by two people at once; keys, secret, ending an app. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOperator, createTestApp } from '../support/client.ts';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

test('APPS-4, APPS-3: settings are refused at their field, kept over a reload, saved alone, and follow what somebody else saves', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { appId } = await createTestApp(service.baseUrl, service.operatorToken, { messages_per_minute: 20 });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { page } = await signedIn(`/console/apps/${appId}/settings`, { bypassCSP: true });
  await waitForPage(page, 'Settings');
  const perMinute = page.getByLabel('Messages a minute', { exact: true });
  await perMinute.fill('0');
  await page.getByLabel('Allowed domains').fill('shop.example.com\nhttps://no');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('alert').getByText('must be a whole number from 1 to 10000', { exact: true }).first().waitFor();
  await page.getByText('line 2 must be a host').waitFor();
  assert.equal(await page.getByText('must be a host').count(), 1);
  assert.equal(await page.getByText('allowed_domains').count(), 0);
  await perMinute.fill('30');
  await page.reload();
  assert.equal(await perMinute.inputValue(), '30');
  await page.getByText('Not saved yet: Allowed domains, Messages a minute').waitFor();
  await operator('PATCH', `/apps/${appId}`, { messages_per_minute: 25, name: 'Renamed' });
  await page.getByLabel('Allowed domains').fill('shop.example.com');
  await page.reload();
  await page.getByText('Messages a minute, theirs: 25').waitFor();
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Renamed');
  await look(page, 'settings');
  // A label stands on the level of its field's first line.
  for (const name of ['Name', 'Time zone', 'Messages a minute', 'Only people who are signed in']) {
    const field = page.getByLabel(name, { exact: true });
    const apart = await field.evaluate((input) => {
      const [label, own] = [(input as HTMLInputElement).labels?.[0], input].map((part) => part?.getBoundingClientRect());
      return label === undefined || own === undefined ? 99 : Math.abs(label.top + label.height / 2 - own.top - own.height / 2);
    });
    assert.ok(apart <= 2, `${name}: ${apart}`);
  }
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('region', { name: 'Changes' }).waitFor({ state: 'detached' });
  const { app } = (await operator('GET', `/apps/${appId}`)).json as { app: Record<string, unknown> };
  assert.deepEqual([app.messages_per_minute, app.allowed_domains, app.name], [30, ['shop.example.com'], 'Renamed']);
});

test('APPS-5: keys are made and revoked, the identity secret is shown and rotated, an app is suspended, and deleted by typing its name', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { appId, organisationId } = await createTestApp(service.baseUrl, service.operatorToken);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { page } = await signedIn(`/console/apps/${appId}/settings`);
  await waitForPage(page, 'Settings');
  const keys = page.getByRole('region', { name: 'Keys' });
  await keys.getByRole('button', { name: 'New test key' }).click();
  await keys.getByRole('listitem').nth(2).waitFor();
  await keys.getByRole('button', { name: 'Revoke… rd_pk_live' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke the key' }).click();
  await keys.getByRole('listitem').filter({ hasText: 'rd_pk_live' }).waitFor({ state: 'detached' });
  const secret = page.getByRole('region', { name: 'Identity secret' });
  await secret.getByRole('button', { name: 'Show the secret' }).click();
  const shown = secret.locator('code.secret');
  const before = await shown.textContent();
  await secret.getByRole('button', { name: 'Rotate…' }).click();
  await page.getByRole('button', { name: 'Rotate the secret' }).click();
  await secret.getByText('Signatures made with the one before count until').waitFor();
  assert.notEqual(await shown.textContent(), before);
  await page.getByRole('button', { name: 'Suspend the app' }).click();
  await page.locator('.side-note').getByText('suspended').waitFor();
  await page.getByRole('button', { name: 'Resume the app' }).click();
  await page.locator('.side-note').getByText('live', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Delete…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete Test app' });
  await dialog.getByLabel('Type Test app to go on').fill('Test');
  assert.equal(await dialog.getByRole('button', { name: 'Delete the app' }).isDisabled(), true);
  await dialog.getByLabel('Type Test app to go on').fill('Test app');
  await dialog.getByRole('button', { name: 'Delete the app' }).click();
  await page.waitForURL(`**/console/orgs/${organisationId}`);
  assert.equal((await operator('GET', `/apps/${appId}`)).status, 404);
});

test('APPS-6: an organisation is renamed, and its members and top-ups are set; what is refused is said at the field', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { organisationId } = await createTestApp(service.baseUrl, service.operatorToken);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { page } = await signedIn(`/console/orgs/${organisationId}`, { bypassCSP: true });
  await waitForPage(page, 'Test');
  await page.getByLabel('Name', { exact: true }).fill('Acme');
  await page.getByLabel('Members').fill('ada@example.com Ada Byron\nnobody');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('line 2, email must be an e-mail address').first().waitFor();
  await page.getByLabel('Members').fill('ada@example.com Ada Byron');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await waitForPage(page, 'Acme');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  const { org } = (await operator('GET', `/orgs/${organisationId}`)).json as { org: Record<string, unknown> };
  assert.deepEqual(org.members, [{ email: 'ada@example.com', name: 'Ada Byron' }]);
});

test('APPS-3, APPS-4: a setting that another app has, and a service that is away, lose nothing that was typed', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { organisationId, appId } = await createTestApp(service.baseUrl, service.operatorToken);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  await operator('POST', `/orgs/${organisationId}/apps`, { name: 'Other', slug: 'taken' });
  const { context, page } = await signedIn(`/console/apps/${appId}/settings`);
  const slug = page.getByLabel('Short name');
  await slug.fill('taken');
  const save = page.getByRole('button', { name: 'Save changes' });
  await save.click();
  await page.getByRole('alert').getByText('conflict').waitFor();
  assert.equal(await slug.inputValue(), 'taken');
  await slug.fill('mine');
  await context.setOffline(true);
  await save.click();
  await page.getByRole('alert').getByText('The service does not answer').waitFor();
  await context.setOffline(false);
  await save.click();
  await page.getByRole('region', { name: 'Changes' }).waitFor({ state: 'detached' });
  const { app } = (await operator('GET', `/apps/${appId}`)).json as { app: { slug: string } };
  assert.equal(app.slug, 'mine');
});

test('APPS-3, MODEL-32: the time zone of an app is set, refused where there is none such, and taken back', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { appId } = await createTestApp(service.baseUrl, service.operatorToken);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { page } = await signedIn(`/console/apps/${appId}/settings`);
  const zone = page.getByLabel('Time zone');
  const changes = page.getByRole('region', { name: 'Changes' });
  const saved = async (value: string) => {
    await zone.fill(value);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await changes.waitFor({ state: 'detached' });
    return ((await operator('GET', `/apps/${appId}`)).json as { app: { time_zone: unknown } }).app.time_zone;
  };
  await zone.fill('Mars/Base');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText(/^must be an IANA time zone/).waitFor();
  assert.equal(await saved(' Europe/Amsterdam '), 'Europe/Amsterdam');
  assert.equal(await saved(''), null);
});
