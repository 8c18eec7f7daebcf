/** Console: organisations, what they used and the credit they buy (CONSOLE-8). */
import type { Organisation, Usage } from '../../protocol/console/answers.ts';
import { createOrganisationBody, creditBody, patchOrganisationBody } from '../../protocol/console/organisations.ts';
import { Refusal } from '../../protocol/errors.ts';
import { isId, mintId } from '../../protocol/ids.ts';
import { SANDBOX_CONVERSATIONS_PER_MONTH, USERS_WINDOW_DAYS } from '../../protocol/limits.ts';
import { toMicroUsd, toUsd } from '../../protocol/money.ts';
import { PLANS } from '../../protocol/plans.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { listApps } from '../../storage/apps/apps.ts';
import { listUsageMails, type ShownUsageMail } from '../../storage/billing/member-mails.ts';
import { listTopUps, type TopUp } from '../../storage/billing/top-ups.ts';
import { type CreditState, creditState, type DayUsage, usageByApp, usageByDay, utcMonth } from '../../storage/billing/usage.ts';
import { listOrganisations, type OrganisationRecord } from '../../storage/organisations/organisations.ts';
import { consoleRoute, json, type Route } from '../route.ts';
import { requireOrganisation } from './app-read.ts';
import { pageOf } from './pages.ts';

function organisationToWire(organisation: OrganisationRecord): Organisation {
  return {
    id: organisation.id,
    name: organisation.name,
    plan: organisation.plan,
    members: organisation.members,
    auto_top_up: organisation.autoTopUp,
    created_at: timestamp(organisation.createdAtMs),
  };
}

function creditToWire(credit: CreditState) {
  return {
    plan_usd: toUsd(credit.planMicroUsd),
    plan_left_usd: toUsd(credit.planLeftMicroUsd),
    purchased_left_usd: toUsd(credit.purchasedLeftMicroUsd),
    overdrawn_usd: toUsd(credit.overdrawnMicroUsd),
    exhausted: credit.exhausted,
    resets_at: timestamp(credit.resetsAtMs),
  };
}

/** Top-ups shown with the usage, newest first. */
const TOP_UPS_SHOWN = 20;

function topUpToWire(topUp: TopUp) {
  return {
    id: topUp.id,
    amount_usd: toUsd(topUp.amountMicroUsd),
    state: topUp.state,
    payment_id: topUp.paymentId,
    // Why it failed, or why it still waits.
    reason: topUp.error,
    created_at: timestamp(topUp.createdAtMs),
    settled_at: topUp.settledAtMs === null ? null : timestamp(topUp.settledAtMs),
  };
}

/** Mails shown with the usage: a month has one for each member and threshold. */
const MAILS_SHOWN = 100;

function mailToWire({ threshold, email, state, createdAtMs, sentAtMs }: ShownUsageMail) {
  return { threshold_percent: threshold, email, state, created_at: timestamp(createdAtMs), sent_at: timestamp(sentAtMs) };
}

function dayToWire({ day, appId, liveMicroUsd, failedMicroUsd, liveTurns, sandboxTurns }: DayUsage) {
  return {
    ...{ day, app_id: appId, spent_usd: toUsd(liveMicroUsd), failed_usd: toUsd(failedMicroUsd) },
    ...{ turns: liveTurns, sandbox_turns: sandboxTurns },
  };
}

const listOrganisationsRoute = consoleRoute('GET', '/orgs', undefined, ({ query }, { storage }) => {
  const { items, next } = pageOf(query, 'id', (after, limit) => {
    return listOrganisations(storage.control, after, limit, query.get('name') ?? '');
  });
  return json({ orgs: items.map(organisationToWire), next });
});

const createOrganisationRoute = consoleRoute('POST', '/orgs', createOrganisationBody, async ({ body }, services) => {
  const { storage } = services;
  const nowMs = services.nowMs();
  const { auto_top_up: autoTopUp, ...fields } = body;
  const id = mintId('org', nowMs);
  const organisation = await storage.writeControl('createOrganisation', { id, ...fields, autoTopUp, nowMs });
  return json({ org: organisationToWire(organisation) }, 201);
});

const readOrganisationRoute = consoleRoute('GET', '/orgs/:org', undefined, ({ params }, services) => {
  return json({ org: organisationToWire(requireOrganisation(services, params.org)) });
});

const patchOrganisationRoute = consoleRoute('PATCH', '/orgs/:org', patchOrganisationBody, async ({ params, body }, services) => {
  const { id } = requireOrganisation(services, params.org);
  const { auto_top_up: autoTopUp, ...fields } = body;
  const organisation = await services.storage.writeControl('patchOrganisation', { id, ...fields, autoTopUp, nowMs: services.nowMs() });
  return json({ org: organisationToWire(organisation) });
});

/** @throws Refusal 400 invalid_request */
function monthOf(query: URLSearchParams, nowMs: number): string {
  const month = query.get('month') ?? utcMonth(nowMs);
  if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(month)) throw new Refusal('invalid_request', 'month must be written like 2026-11.');
  return month;
}

const usageRoute = consoleRoute('GET', '/orgs/:org/usage', undefined, async ({ params, query }, services) => {
  const organisation = requireOrganisation(services, params.org);
  const nowMs = services.nowMs();
  const month = monthOf(query, nowMs);
  // 200,000 devices on the scale plan take half a second, so this is read outside the event loop.
  const users = await services.storage.countUsers(organisation.id, nowMs);
  const db = services.storage.organisation(organisation.id);
  const names = new Map(listApps(db, organisation.id).map((app) => [app.id, app.name]));
  const usage = usageByApp(db, month);
  return json<Usage>({
    month,
    spent_usd: toUsd(usage.reduce((sum, app) => sum + app.liveMicroUsd, 0)),
    failed_usd: toUsd(usage.reduce((sum, app) => sum + app.failedMicroUsd, 0)),
    apps: usage.map((app) => ({
      app_id: app.appId,
      // Null: the app was deleted, what it spent stays spent.
      name: names.get(app.appId) ?? null,
      spent_usd: toUsd(app.liveMicroUsd),
      failed_usd: toUsd(app.failedMicroUsd),
      turns: app.liveTurns,
      conversations: app.liveConversations,
      sandbox_turns: app.sandboxTurns,
      sandbox_conversations: app.sandboxConversations,
    })),
    credit: creditToWire(creditState(services.storage.control, db, organisation.id, nowMs)),
    users: { count: users, allowance: PLANS[organisation.plan].users, window_days: USERS_WINDOW_DAYS },
    sandbox_conversations: {
      count: usage.reduce((sum, app) => sum + app.sandboxConversations, 0),
      limit: SANDBOX_CONVERSATIONS_PER_MONTH,
    },
    days: usageByDay(db, month).map(dayToWire),
    top_ups: listTopUps(db, TOP_UPS_SHOWN).map(topUpToWire),
    mails: listUsageMails(db, month, MAILS_SHOWN).map(mailToWire),
  });
});

/**
 * Where a spreadsheet would begin a formula: at the start of a field, and behind what separates cells in other countries, where it does not
 * know the quotes of this field.
 */
const FORMULA = /(^|[;|\t\r\n])((?:[^\S\t\r\n]|")*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/** A field as RFC 4180 has it. What a spreadsheet would take for a formula has a `'` before it, which makes it text there. */
export function csvField(value: string | number): string {
  const text = typeof value === 'string' ? value.replace(FORMULA, "$1'$2") : String(value);
  return /[",;|\t\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Dollars are written out, never as 1e-6. */
const csvUsd = (microUsd: number) => (microUsd / 1_000_000).toFixed(6);

const CSV_COLUMNS = ['day', 'app_id', 'app', 'turns', 'test_turns', 'spent_usd', 'failed_usd'];

/** What `days` of the usage has, for a spreadsheet: of the organisation, or of one app. */
const usageFileRoute = consoleRoute('GET', '/orgs/:org/usage.csv', undefined, ({ params, query }, services) => {
  const { id } = requireOrganisation(services, params.org);
  const month = monthOf(query, services.nowMs());
  const only = query.get('app');
  const db = services.storage.organisation(id);
  const names = new Map(listApps(db, id).map((app) => [app.id, app.name]));
  const rows = usageByDay(db, month)
    .filter(({ appId }) => only === null || appId === only)
    .map((row) => [
      ...[row.day, row.appId, names.get(row.appId) ?? '', row.liveTurns, row.sandboxTurns],
      ...[csvUsd(row.liveMicroUsd), csvUsd(row.failedMicroUsd)],
    ]);
  const body = [CSV_COLUMNS, ...rows].map((fields) => `${fields.map(csvField).join(',')}\r\n`).join('');
  const headers = {
    'Content-Type': 'text/csv; charset=utf-8; header=present',
    'Content-Disposition': `attachment; filename="usage-${only !== null && isId('app', only) ? only : id}-${month}.csv"`,
  };
  return { kind: 'text', status: 200, body, headers };
});

const creditRoute = consoleRoute('POST', '/orgs/:org/credit', creditBody, async ({ params, body }, services) => {
  const { id } = requireOrganisation(services, params.org);
  const { storage } = services;
  const nowMs = services.nowMs();
  const { expiresAtMs } = await storage.write(id, 'addCredit', { amountMicroUsd: toMicroUsd(body.amount_usd), nowMs });
  services.billing.bought(id);
  const credit = creditToWire(creditState(storage.control, storage.organisation(id), id, nowMs));
  return json({ added_usd: body.amount_usd, expires_at: timestamp(expiresAtMs), credit }, 201);
});

export const organisationRoutes: readonly Route[] = [
  listOrganisationsRoute,
  createOrganisationRoute,
  readOrganisationRoute,
  patchOrganisationRoute,
  usageRoute,
  usageFileRoute,
  creditRoute,
];
