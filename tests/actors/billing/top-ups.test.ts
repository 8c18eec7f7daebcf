import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createPayments, type Payments } from '../../../actors/billing/payments.ts';
import { TopUps } from '../../../actors/billing/top-ups.ts';
import { readOrganisation } from '../../../storage/organisations/organisations.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { eventually } from '../../support/eventually.ts';
import { auditLedger } from '../../support/ledger-audit.ts';
import { type StripeServer, startStripeServer } from '../../support/stripe-server.ts';
import { type BillingFixture, openFixture } from './fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const USD = 1_000_000;
const KEY = 'sk_test_secret';

interface Till {
  readonly fixture: BillingFixture;
  readonly stripe: StripeServer;
  readonly topUps: TopUps;
  another(): Promise<TopUps>;
  look(by?: TopUps): Promise<void>;
  rows(): unknown[];
  purchasedUsd(): number;
}

async function open(t: TestContext, { manual = false, customer = 'cus_acme' as string | null } = {}): Promise<Till> {
  const fixture = await openFixture(t);
  const { storage, log, nowMs, organisationId } = fixture;
  const stripe = await startStripeServer(t);
  const another = async () => {
    const payments: Payments | null = manual ? null : await createPayments({ secretKey: KEY, baseUrl: stripe.url });
    return new TopUps({ storage, payments, log, nowMs });
  };
  const topUps = await another();
  await fixture.patch({
    plan: 'growth',
    autoTopUp: { enabled: true, amount_usd: 25, ...(customer === null ? {} : { stripe_customer: customer }) },
  });
  return {
    fixture,
    stripe,
    topUps,
    another,
    async look(by = topUps) {
      const organisation = readOrganisation(storage.control, organisationId);
      assert.ok(organisation !== undefined);
      await by.plan(organisation, fixture.credit(), by.newest(organisationId));
      await by.charge(organisationId);
    },
    rows: () => fixture.rows('SELECT state, attempts FROM top_ups ORDER BY id').map(Object.values),
    purchasedUsd: () => (fixture.rows('SELECT coalesce(sum(amount_microusd), 0) AS sum FROM credit_purchases')[0]?.sum as number) / USD,
  };
}

test('LIMIT-29: the chosen amount is charged when credit falls below 10 USD, not at 10, and adds credit once', async (t) => {
  const { fixture, stripe, look, rows, purchasedUsd } = await open(t);
  fixture.spend(40);
  await look();
  assert.deepEqual(rows(), [], 'exactly 10 left');
  fixture.spend(0.000001);
  await look();
  await look();
  assert.deepEqual(
    stripe.intents.map(({ amount, customer, status }) => [amount, customer, status]),
    [[2_500, 'cus_acme', 'succeeded']],
  );
  assert.deepEqual(rows(), [['charged', 1]]);
  assert.equal(purchasedUsd(), 25);
  assert.deepEqual([...stripe.keys], [`Bearer ${KEY}`]);
  assert.equal(stripe.intents[0]?.metadata.top_up_id, `${fixture.organisationId}-1`);
  fixture.spend(30);
  await look();
  assert.equal(purchasedUsd(), 50, 'and again the next time it falls');
  auditLedger(fixture.storage, fixture.organisationId, fixture.nowMs());
});

test('LIMIT-29: nothing is charged while auto top-up is off', async (t) => {
  const { fixture, stripe, look, rows } = await open(t);
  await fixture.patch({ autoTopUp: { enabled: false, amount_usd: 25, stripe_customer: 'cus_acme' } });
  fixture.spend(60);
  await look();
  assert.deepEqual([rows(), stripe.requests], [[], []]);
});

test('LIMIT-30: two that look and charge at once charge once and add credit once', async (t) => {
  const { fixture, stripe, topUps, another, look, purchasedUsd } = await open(t);
  const second = await another();
  fixture.spend(41);
  await Promise.all([look(topUps), look(second), look(topUps), look(second)]);
  fixture.pass(HOUR_MS);
  await Promise.all([look(topUps), look(second)]);
  assert.deepEqual([stripe.intents.length, purchasedUsd()], [1, 25]);
});

test('LIMIT-30: a decision on credit that another top-up has changed meanwhile begins nothing', async (t) => {
  const { fixture, stripe, topUps, look, purchasedUsd } = await open(t);
  fixture.spend(41);
  const organisation = readOrganisation(fixture.storage.control, fixture.organisationId);
  assert.ok(organisation !== undefined);
  const stale = { newest: topUps.newest(fixture.organisationId), credit: fixture.credit() };
  await look();
  assert.equal(purchasedUsd(), 25);
  assert.equal(await topUps.plan(organisation, stale.credit, stale.newest), false);
  await look();
  assert.deepEqual([stripe.intents.length, purchasedUsd()], [1, 25]);
});

test('LIMIT-30: a charge whose answer was lost is found again, not made again; attempts are spaced', async (t) => {
  const { fixture, stripe, look, rows, purchasedUsd } = await open(t);
  fixture.spend(41);
  stripe.loseAnswers(true);
  await look();
  assert.deepEqual([rows(), purchasedUsd(), stripe.intents.length], [[['pending', 1]], 0, 1]);
  const asked = stripe.requests.length;
  await look();
  assert.equal(stripe.requests.length, asked, 'not at once');
  fixture.pass(MINUTE_MS);
  stripe.loseAnswers(false);
  await look();
  assert.deepEqual([rows(), purchasedUsd(), stripe.intents.length], [[['charged', 2]], 25, 1]);
});

test('LIMIT-30: a crash between charge and commit charges once, also after the processor forgot the key', async (t) => {
  const { fixture, stripe, another, look, purchasedUsd } = await open(t);
  const { storage, log, nowMs } = fixture;
  fixture.spend(41);
  const dying = {
    ...storage,
    write: (...[id, name, input]: Parameters<typeof storage.write>) =>
      name === 'settleTopUp' ? Promise.reject(new Error('killed')) : storage.write(id, name, input),
  } as typeof storage;
  const first = new TopUps({ storage: dying, payments: await createPayments({ secretKey: KEY, baseUrl: stripe.url }), log, nowMs });
  await assert.rejects(look(first), /killed/);
  assert.deepEqual([stripe.intents.length, purchasedUsd()], [1, 0]);
  fixture.pass(30 * HOUR_MS);
  stripe.forgetKeys();
  await look(await another());
  assert.deepEqual([stripe.intents.length, purchasedUsd()], [1, 25]);
});

/** A restore whose source is older than the top-ups: their rows and credit are gone, the payments are not. */
function losesTopUps({ storage, organisationId }: BillingFixture): void {
  const db = openWriter(storage.layout.organisation(organisationId));
  db.exec('DELETE FROM top_ups; DELETE FROM credit_purchases WHERE top_up_id IS NOT NULL');
  db.close();
}

test('LIMIT-30: top-ups that a restore lost are the same payments when they are made again', async (t) => {
  const { fixture, stripe, look, purchasedUsd } = await open(t);
  const lookTwice = async () => {
    fixture.spend(41);
    await look();
    fixture.spend(30);
    await look();
  };
  await lookTwice();
  assert.deepEqual([stripe.intents.length, purchasedUsd()], [2, 50]);
  losesTopUps(fixture);
  await look();
  await look();
  assert.deepEqual([stripe.intents.length, purchasedUsd()], [2, 50], 'soon after');
  losesTopUps(fixture);
  fixture.pass(30 * HOUR_MS);
  stripe.forgetKeys();
  await look();
  await look();
  assert.deepEqual([stripe.intents.length, purchasedUsd()], [2, 50], 'when the processor has forgotten the keys');
  fixture.spend(60);
  await look();
  assert.deepEqual([stripe.intents.length, purchasedUsd()], [3, 75]);
});

test('LIMIT-30: a card that is changed between two attempts does not make a second charge', async (t) => {
  const { fixture, stripe, topUps, another, look, purchasedUsd } = await open(t);
  const second = await another();
  fixture.spend(41);
  const answers = stripe.holdAnswers();
  const underWay = look(topUps);
  await eventually(() => stripe.intents.length !== 0);
  stripe.card('pm_other');
  fixture.pass(MINUTE_MS);
  const again = look(second);
  answers.release();
  await Promise.all([underWay, again]);
  assert.deepEqual([stripe.intents.length, purchasedUsd()], [1, 25]);
});

test('LIMIT-31: a declined card is told with its reason and not tried again before a day', async (t) => {
  const { fixture, stripe, look, rows, purchasedUsd } = await open(t);
  fixture.spend(41);
  stripe.decline('Your card was declined.');
  await look();
  assert.deepEqual(fixture.rows('SELECT state, error FROM top_ups').map(Object.values), [['failed', 'Your card was declined.']]);
  stripe.decline(null);
  fixture.pass(24 * HOUR_MS - 1);
  await look();
  assert.deepEqual([rows().length, purchasedUsd()], [1, 0]);
  fixture.pass(1);
  await look();
  assert.deepEqual(
    [rows(), purchasedUsd()],
    [
      [
        ['failed', 1],
        ['charged', 1],
      ],
      25,
    ],
  );
});

test('LIMIT-30: a processor that is down is asked again, ever more rarely, and never charges twice', async (t) => {
  const { fixture, stripe, look, rows, purchasedUsd } = await open(t);
  fixture.spend(41);
  stripe.fail(500);
  for (let n = 0; n < 30; n++) {
    await look();
    fixture.pass(10 * MINUTE_MS);
  }
  const [[state, attempts]] = rows() as [[string, number]];
  assert.equal(state, 'pending');
  assert.ok(attempts >= 5 && attempts <= 12, `${attempts} attempts in five hours`);
  stripe.fail(null);
  fixture.pass(HOUR_MS);
  await look();
  assert.deepEqual([stripe.intents.length, purchasedUsd()], [1, 25]);
});

test('LIMIT-31: without a customer, a card or a working key the top-up fails with a sentence, and no key shows', async (t) => {
  for (const [prepare, customer, reason] of [
    [() => {}, null, /stripe_customer/],
    [() => {}, 'cus_unknown', /does not know this customer/],
    [(stripe: StripeServer) => stripe.card(null), 'cus_acme', /no card/],
    [(stripe: StripeServer) => stripe.fail(401), 'cus_acme', /does not accept the key/],
  ] as const) {
    const { fixture, stripe, look, purchasedUsd } = await open(t, { customer });
    prepare(stripe);
    fixture.spend(41);
    await look();
    const [row] = fixture.rows('SELECT state, error FROM top_ups') as [{ state: string; error: string }];
    assert.equal(row.state, 'failed');
    assert.match(row.error, reason);
    assert.deepEqual([stripe.intents.length, purchasedUsd()], [0, 0]);
    assert.doesNotMatch(fixture.logged.join('') + row.error, /sk_test/);
  }
});

test('LIMIT-32: without STRIPE_SECRET_KEY a top-up is recorded as manual, adds its credit and charges nobody', async (t) => {
  const { fixture, stripe, look, rows, purchasedUsd } = await open(t, { manual: true, customer: null });
  fixture.spend(41);
  await look();
  await look();
  assert.deepEqual([rows(), purchasedUsd(), stripe.requests], [[['manual', 1]], 25, []]);
});

test('LIMIT-31: a runaway is stopped at a hundred top-ups in 24 hours', async (t) => {
  const { fixture, look, rows } = await open(t, { manual: true });
  for (let n = 0; n < 105; n++) {
    fixture.spend(n === 0 ? 41 : 25);
    await look();
    fixture.pass(1_000);
  }
  assert.equal(rows().length, 100);
});
