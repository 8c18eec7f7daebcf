import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createMailer, type Mailer } from '../../../actors/billing/mail.ts';
import { isReached, MemberMails } from '../../../actors/billing/member-mails.ts';
import type { CreditState } from '../../../storage/billing/usage.ts';
import { readOrganisation } from '../../../storage/organisations/organisations.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { type MailServer, startMailServer } from '../../support/mail-server.ts';
import { type BillingFixture, openFixture } from './fixture.ts';

const HOUR_MS = 3_600_000;
const FROM = 'Assistant <assistant@service.example>';

interface Alerting {
  readonly fixture: BillingFixture;
  readonly alerts: MemberMails;
  /** What a look at the organisation does. */
  look(alerts?: MemberMails): Promise<void>;
  states(): unknown[];
}

async function open(t: TestContext, mailerOf: (fixture: BillingFixture) => Mailer): Promise<Alerting> {
  const fixture = await openFixture(t);
  const { storage, log, nowMs, organisationId } = fixture;
  const alerts = new MemberMails({ storage, mailer: mailerOf(fixture), log, nowMs });
  return {
    fixture,
    alerts,
    async look(by = alerts) {
      const organisation = readOrganisation(storage.control, organisationId);
      assert.ok(organisation !== undefined);
      await by.plan(organisation, fixture.credit());
      await by.deliver(organisationId);
    },
    states: () =>
      fixture
        .rows('SELECT CAST(substr(about, 9) AS INTEGER) AS threshold, email, state FROM member_mails ORDER BY threshold, email')
        .map(Object.values),
  };
}

const smtp = (url: string) => (fixture: BillingFixture) =>
  createMailer({ smtpUrl: url, from: FROM, outbox: '', log: fixture.log, timeoutMs: 3_000 });

const told = (server: MailServer) =>
  server.received.map(({ to, raw }) => `${to} ${/80 ?%|=20=25|used up/.test(raw) ? (raw.includes('used up.') ? 100 : 80) : '?'}`).sort();

test('LIMIT-26: each member is written to at 80 % and at 100 % of usage, once a month each', async (t) => {
  const server = await startMailServer(t);
  const { fixture, look } = await open(t, smtp(server.url));
  fixture.spend(3.999999);
  await look();
  assert.deepEqual(server.received, [], 'below 80 %');
  fixture.spend(0.000001);
  await look();
  await look();
  assert.deepEqual(told(server), ['ada@example.com 80', 'bob@example.com 80']);
  fixture.spend(0.999999);
  await look();
  assert.equal(server.received.length, 2, 'below 100 %');
  fixture.spend(0.000001);
  await look();
  await look();
  assert.deepEqual(told(server), ['ada@example.com 100', 'ada@example.com 80', 'bob@example.com 100', 'bob@example.com 80']);
  fixture.pass(15 * 24 * HOUR_MS);
  await look();
  assert.equal(server.received.length, 4, 'a new month has its own credit');
  fixture.spend(4.5);
  await look();
  assert.equal(server.received.length, 6, 'and its own mails');
});

test('LIMIT-26: the mail says whose credit it is, comes from MAIL_FROM and holds nothing of another member', async (t) => {
  const server = await startMailServer(t);
  const { fixture, look } = await open(t, smtp(server.url));
  fixture.spend(5);
  await look();
  const raw = server.received.find(({ to }) => to === 'ada@example.com')?.raw ?? '';
  assert.match(raw, /^From: Assistant <assistant@service\.example>$/m);
  assert.match(raw, /^To: ada@example\.com$/m);
  assert.match(raw, /^Subject: =\?UTF-8\?.*K=C3=A4se/m);
  assert.match(raw, /^Message-ID: <[0-9a-f]{32}@service\.example>$/m);
  assert.match(raw, /^Auto-Submitted: auto-generated$/m);
  assert.doesNotMatch(raw, /bob/i);
  assert.equal(new Set(server.received.map((mail) => /^Message-ID: (.*)$/m.exec(mail.raw)?.[1])).size, 4, 'each mail has its own id');
});

test('LIMIT-17, LIMIT-26: what failed attempts cost is written about, too, and the mail does not say that credit is used up', async (t) => {
  const server = await startMailServer(t);
  const { fixture, look } = await open(t, smtp(server.url));
  fixture.spend(1);
  const writer = openWriter(fixture.storage.layout.organisation(fixture.organisationId));
  writer.statement('UPDATE usage_days SET failed_microusd = 4000000').run();
  writer.close();
  await look();
  assert.equal(server.received.length, 4, 'at 80 % and at 100 %');
  assert.deepEqual([fixture.credit().exhausted, fixture.credit().failedMicroUsd], [false, 4_000_000]);
  const texts = server.received.map(({ raw }) => raw).join('');
  assert.match(texts, /draw no credit/);
  assert.doesNotMatch(texts, /used up\.$/m);
});

test('LIMIT-27: two that look and deliver at once send each mail once', async (t) => {
  const server = await startMailServer(t);
  const { fixture, alerts, look } = await open(t, smtp(server.url));
  const { storage, log, nowMs } = fixture;
  const second = new MemberMails({ storage, mailer: smtp(server.url)(fixture), log, nowMs });
  fixture.spend(5);
  await Promise.all([look(alerts), look(second), look(alerts), look(second)]);
  assert.deepEqual(told(server), ['ada@example.com 100', 'ada@example.com 80', 'bob@example.com 100', 'bob@example.com 80']);
});

test('LIMIT-27: a crash after the mail was handed over does not send it again', async (t) => {
  const server = await startMailServer(t);
  const { fixture, look, states } = await open(t, smtp(server.url));
  const { storage, log, nowMs } = fixture;
  await fixture.patch({ members: ['ada@example.com'] });
  fixture.spend(4);
  // Dies with the answer of the server: what is to be written after it never is.
  const dying = {
    ...storage,
    write: (...[id, name, input]: Parameters<typeof storage.write>) =>
      name === 'settleMemberMail' ? Promise.reject(new Error('killed')) : storage.write(id, name, input),
  } as typeof storage;
  await assert.rejects(look(new MemberMails({ storage: dying, mailer: smtp(server.url)(fixture), log, nowMs })), /killed/);
  assert.equal(server.received.length, 1);
  fixture.pass(HOUR_MS);
  await look();
  assert.equal(server.received.length, 1);
  assert.deepEqual(states(), [[80, 'ada@example.com', 'sending']]);
});

test('LIMIT-27: while no server can be reached nothing is lost, and attempts are spaced and bounded', async (t) => {
  const server = await startMailServer(t);
  const { port } = server;
  await server.close();
  const { fixture, look, states } = await open(t, smtp(`smtp://127.0.0.1:${port}`));
  await fixture.patch({ members: ['ada@example.com'] });
  fixture.spend(4);
  await look();
  await look();
  assert.deepEqual(
    fixture.rows('SELECT state, attempts FROM member_mails').map(Object.values),
    [['pending', 1]],
    'not tried again at once',
  );
  fixture.pass(HOUR_MS);
  const again = await startMailServer(t, port);
  await look();
  assert.deepEqual(told(again), ['ada@example.com 80']);
  assert.deepEqual(states(), [[80, 'ada@example.com', 'sent']]);
});

test('LIMIT-27: a server that is never reached is given up on', async (t) => {
  const server = await startMailServer(t);
  const { port } = server;
  await server.close();
  const { fixture, look, states } = await open(t, smtp(`smtp://127.0.0.1:${port}`));
  await fixture.patch({ members: ['ada@example.com'] });
  fixture.spend(4);
  for (let n = 0; n < 20; n++) {
    await look();
    fixture.pass(HOUR_MS);
  }
  assert.deepEqual(states(), [[80, 'ada@example.com', 'failed']]);
});

test('LIMIT-27: a recipient refused for now is tried again, one refused for good is not', async (t) => {
  const server = await startMailServer(t);
  const { fixture, look, states } = await open(t, smtp(server.url));
  server.refuse((to) => (to.startsWith('ada') ? 451 : 550));
  fixture.spend(4);
  await look();
  assert.deepEqual(states(), [
    [80, 'ada@example.com', 'pending'],
    [80, 'bob@example.com', 'failed'],
  ]);
  server.refuse(() => 0);
  fixture.pass(HOUR_MS);
  await look();
  assert.deepEqual(told(server), ['ada@example.com 80']);
});

test('LIMIT-27: a mail whose connection broke while the server had it is not sent twice', async (t) => {
  const server = await startMailServer(t);
  const { fixture, look, states } = await open(t, smtp(server.url));
  await fixture.patch({ members: ['ada@example.com'] });
  fixture.spend(4);
  // The server has the mail and never answers.
  server.holdAnswer(() => new Promise(() => {}));
  await look();
  assert.deepEqual(states(), [[80, 'ada@example.com', 'sending']]);
  fixture.pass(HOUR_MS);
  await look();
  assert.equal(server.received.length, 1);
});

test('LIMIT-26: who has left the organisation is not written to', async (t) => {
  const server = await startMailServer(t);
  const { fixture, look } = await open(t, smtp(server.url));
  server.refuse(() => 451);
  fixture.spend(4);
  await look();
  await fixture.patch({ members: ['ada@example.com'] });
  server.refuse(() => 0);
  fixture.pass(HOUR_MS);
  await look();
  assert.deepEqual(told(server), ['ada@example.com 80']);
});

test('RUN-35: a mail server that took none of five mails in a row is a condition; an address that it refuses is none', async (t) => {
  const server = await startMailServer(t);
  const { fixture, look } = await open(t, smtp(server.url));
  const holds = () => fixture.storage.conditions.holds('mail_failing');
  server.refuse((to) => (to.startsWith('ada') ? 550 : 451));
  fixture.spend(4);
  for (let n = 1; n <= 5; n += 1) {
    assert.equal(holds(), false);
    await look();
    fixture.pass(HOUR_MS);
  }
  assert.equal(holds(), true);
  server.refuse(() => 0);
  await look();
  assert.equal(holds(), false);
});

test('LIMIT-28: without SMTP_URL each mail is a file in the outbox', async (t) => {
  const { fixture, look, states } = await open(t, ({ storage, log }) =>
    createMailer({ smtpUrl: undefined, from: FROM, outbox: storage.layout.outbox, log }),
  );
  fixture.spend(4);
  await look();
  await look();
  const files = readdirSync(fixture.storage.layout.outbox);
  assert.equal(files.length, 2);
  for (const file of files) {
    assert.match(file, /^[0-9a-f]{32}\.eml$/);
    assert.match(readFileSync(join(fixture.storage.layout.outbox, file), 'utf8'), /^To: (?:ada|bob)@example\.com\r$/m);
  }
  assert.deepEqual(new Set(states().map((row) => (row as unknown[])[2])), new Set(['sent']));
});

test('PRIVACY-14: the log says what became of mails, and names nobody', async (t) => {
  const server = await startMailServer(t);
  const { fixture, look } = await open(t, smtp(server.url));
  server.refuse(() => 550);
  fixture.spend(4);
  await look();
  assert.ok(fixture.logged.some((line) => line.includes('a mail to a member was not sent')));
  assert.doesNotMatch(fixture.logged.join(''), /example\.com|Käse/);
});

test('LIMIT-26: usage is measured against what the month had: plan and purchases, less what earlier months owe', () => {
  const credit = (spent: number, plan: number, purchased: number, overdrawn: number) =>
    ({
      spentMicroUsd: spent,
      failedMicroUsd: 0,
      planLeftMicroUsd: plan,
      purchasedLeftMicroUsd: purchased,
      overdrawnMicroUsd: overdrawn,
    }) as CreditState;
  // Spent, left of the plan, left of purchases, overdrawn → 80 %, 100 %.
  for (const [spent, plan, purchased, overdrawn, at80, at100] of [
    [0, 5, 0, 0, false, false],
    [4, 1, 0, 0, true, false],
    [4, 1, 20, 0, false, false],
    [5, 0, 0, 0, true, true],
    [20, 0, 5, 0, true, false],
    [7, 0, 0, 2, true, true],
    [0, 0, 0, 2, true, true],
    [1, 1, 0, 0, false, false],
  ] as const) {
    const state = credit(spent, plan, purchased, overdrawn);
    assert.deepEqual([isReached(80, state), isReached(100, state)], [at80, at100], JSON.stringify(state));
  }
  const failing = { ...credit(1, 4, 0, 0), failedMicroUsd: 3 };
  assert.deepEqual([isReached(80, failing), isReached(100, { ...failing, failedMicroUsd: 4 })], [true, true]);
});
