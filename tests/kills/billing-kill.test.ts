/** The program itself, killed between a mail or a charge and its commit, repeats neither. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriter } from '../../storage/sqlite/database.ts';
import { createClient, createOperator, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { startMailServer } from '../support/mail-server.ts';
import { startService } from '../support/service.ts';
import { startStripeServer } from '../support/stripe-server.ts';

const SECRETS = /sk_test_secret|hunter2/;

interface Usage {
  readonly credit: { readonly purchased_left_usd: number; readonly overdrawn_usd: number };
  readonly spent_usd: number;
  readonly top_ups: readonly { readonly state: string; readonly payment_id: string | null; readonly amount_usd: number }[];
}

test('LIMIT-27, LIMIT-30: kill -9 while a mail and a charge wait for their answers: each mail is sent once, the card is charged once', async (t) => {
  const mail = await startMailServer(t);
  const stripe = await startStripeServer(t);
  const env = {
    DEMO: 'off',
    LOG_LEVEL: 'info',
    MODEL_PRICES: '{"offline":{"input":100000,"output":100000}}',
    SMTP_URL: mail.url.replace('smtp://', 'smtp://ada:hunter2@'),
    STRIPE_SECRET_KEY: 'sk_test_secret',
    STRIPE_BASE_URL: stripe.url,
  };
  const first = await startService(t, { env });
  const app = await createTestApp(first.baseUrl, first.operatorToken);
  const patched = await createOperator(first.baseUrl, first.operatorToken)('PATCH', `/orgs/${app.organisationId}`, {
    plan: 'free',
    members: [{ email: 'ada@example.com' }, { email: 'bob@example.com' }],
    auto_top_up: { enabled: true, amount_usd: 1_000.5, stripe_customer: 'cus_acme' },
  });
  assert.equal(patched.status, 200, patched.text);
  let releaseMail = () => {};
  mail.holdAnswer(
    () =>
      new Promise((resolve) => {
        releaseMail = resolve;
      }),
  );
  const answers = stripe.holdAnswers();
  const answered = await createClient(first.baseUrl, app.liveKey).say('Hello');
  assert.equal(answered.events.at(-1)?.status, 'completed', answered.text);
  await eventually(() => mail.received.length === 1 && stripe.intents.length === 1);
  await first.stop('SIGKILL');
  releaseMail();
  answers.release();
  mail.holdAnswer(() => Promise.resolve());
  // Half a minute passes.
  const file = openWriter(join(first.dataDir, 'organisations', `${app.organisationId}.sqlite`));
  file.statement(`UPDATE top_ups SET next_attempt_at_ms = 0 WHERE state = 'pending'`).run({});
  file.close();

  const second = await startService(t, { dataDir: first.dataDir, env });
  const operator = createOperator(second.baseUrl, second.operatorToken);
  const usage = async () => (await operator('GET', `/orgs/${app.organisationId}/usage`)).json as Usage;
  await eventually(async () => mail.received.length >= 4 && (await usage()).top_ups[0]?.state === 'charged');
  const { credit, spent_usd, top_ups } = await usage();
  assert.deepEqual(
    top_ups.map(({ state, payment_id, amount_usd }) => [state, payment_id, amount_usd]),
    [['charged', stripe.intents[0]?.id, 1_000.5]],
  );
  assert.deepEqual(
    stripe.intents.map(({ amount }) => amount),
    [100_050],
  );
  assert.ok(Math.abs(credit.purchased_left_usd - credit.overdrawn_usd - (5 + 1_000.5 - spent_usd)) < 1e-9);
  assert.equal(await second.stop(), 0);
  assert.deepEqual(mail.received.map(({ to, raw }) => `${to} ${/^Subject: .*used up/m.test(raw) ? 100 : 80}`).sort(), [
    'ada@example.com 100',
    'ada@example.com 80',
    'bob@example.com 100',
    'bob@example.com 80',
  ]);
  for (const { output } of [first, second]) assert.doesNotMatch(output().stdout + output().stderr, SECRETS);
});
