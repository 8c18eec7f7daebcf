/**
 * What an organisation spent and has left (LIMIT-21 to LIMIT-25, LIMIT-33). No balance is stored: credit is computed from purchases and
 * daily sums, month by month, so that it cannot disagree with the ledger.
 * Reads only: purchases are written by credit-purchases.ts, the daily sums by usage-ledger.ts.
 */
import { LRUCache } from 'lru-cache';
import { USERS_WINDOW_DAYS } from '../../protocol/limits.ts';
import { toMicroUsd } from '../../protocol/money.ts';
import { PLANS } from '../../protocol/plans.ts';
import { type Channel, type PlanPeriod, readPlanPeriods } from '../organisations/organisations.ts';
import { columns, integer, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A month counts as closed only after this, when charges stamped just before midnight are committed. */
const STRAGGLERS_MS = 60_000;
/** One small object per organisation and month. */
const CLOSED_MONTHS_MAX = 2_000;

export interface CreditState {
  readonly month: string;
  readonly planMicroUsd: number;
  readonly planLeftMicroUsd: number;
  readonly purchasedLeftMicroUsd: number;
  /** Used below zero; taken from the next credit of any kind. */
  readonly overdrawnMicroUsd: number;
  readonly spentMicroUsd: number;
  /** Cost of this month's failed live attempts, which drew no credit. */
  readonly failedMicroUsd: number;
  /** When plan credit comes next: the first of the next month. */
  readonly resetsAtMs: number;
  readonly exhausted: boolean;
}

export function utcMonth(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

function monthStartMs(month: string): number {
  return Date.parse(`${month}-01T00:00:00.000Z`);
}

function nextMonth(month: string): string {
  return utcMonth(monthStartMs(month) + 32 * DAY_MS);
}

/** Its first day, and the first one after it, as days are stored. */
function daysOf(month: string): { from: string; to: string } {
  return { from: `${month}-01`, to: `${nextMonth(month)}-01` };
}

interface Lot {
  readonly left: number;
  readonly expiresAtMs: number;
}

/** The balance carried from one day to the next. Immutable, because the last one of a closed month is cached. */
interface Balance {
  readonly planLeft: number;
  readonly lots: readonly Lot[];
  readonly overdrawn: number;
}

const NOTHING: Balance = { planLeft: 0, lots: [], overdrawn: 0 };

function startMonth(balance: Balance, planMicroUsd: number): Balance {
  const owed = Math.min(balance.overdrawn, planMicroUsd);
  return { planLeft: planMicroUsd - owed, lots: balance.lots, overdrawn: balance.overdrawn - owed };
}

function purchase(balance: Balance, amountMicroUsd: number, expiresAtMs: number): Balance {
  const owed = Math.min(balance.overdrawn, amountMicroUsd);
  const lot = { left: amountMicroUsd - owed, expiresAtMs };
  const lots = lot.left > 0 ? [...balance.lots, lot].sort((a, b) => a.expiresAtMs - b.expiresAtMs) : balance.lots;
  return { planLeft: balance.planLeft, lots, overdrawn: balance.overdrawn - owed };
}

/** Plan credit first, then the purchase that expires soonest, then below zero. */
function spend(balance: Balance, amountMicroUsd: number): Balance {
  const fromPlan = Math.min(balance.planLeft, amountMicroUsd);
  let rest = amountMicroUsd - fromPlan;
  const lots: Lot[] = [];
  for (const lot of balance.lots) {
    const taken = Math.min(lot.left, rest);
    rest -= taken;
    if (lot.left > taken) lots.push({ left: lot.left - taken, expiresAtMs: lot.expiresAtMs });
  }
  return { planLeft: balance.planLeft - fromPlan, lots, overdrawn: balance.overdrawn + rest };
}

function dropExpired(balance: Balance, atMs: number): Balance {
  return balance.lots.some((lot) => lot.expiresAtMs <= atMs)
    ? { ...balance, lots: balance.lots.filter((lot) => lot.expiresAtMs > atMs) }
    : balance;
}

function planMicroUsdOf(periods: readonly PlanPeriod[], month: string): number {
  const period = periods.findLast(({ from }) => from <= month) ?? periods[0];
  return period === undefined ? 0 : toMicroUsd(PLANS[period.plan].monthlyCreditUsd);
}

type Event = { readonly atMs: number } & ({ readonly spent: number } | { readonly bought: number; readonly expiresAtMs: number });

/** `atMs`: when the day began. */
const bookedPurchase = columns({
  atMs: integer.from(`purchased_at_ms / ${DAY_MS} * ${DAY_MS}`),
  bought: integer.from('amount_microusd'),
  expiresAtMs: integer,
});
const daySpend = columns({ day: text, spent: integer.from('sum(cost_microusd)'), failed: integer.from('sum(failed_microusd)') });

type DaySpend = RowOf<typeof daySpend>;

function spendByDay(db: Connection, month: string): readonly DaySpend[] {
  const rows = `FROM usage_days WHERE channel = 'live' AND day >= :from AND day < :to GROUP BY day ORDER BY day`;
  return daySpend.all(db, rows, daysOf(month));
}

/** Purchases and daily spend of a month in order. A day's spend counts at its start, but after that day's purchases. */
function eventsOf(db: Connection, month: string, days: readonly DaySpend[]): Event[] {
  const fromMs = monthStartMs(month);
  const toMs = monthStartMs(nextMonth(month));
  const rows = 'FROM credit_purchases WHERE purchased_at_ms >= :fromMs AND purchased_at_ms < :toMs ORDER BY purchased_at_ms, id';
  const bought = bookedPurchase.all(db, rows, { fromMs, toMs });
  const spent = days.map((row) => ({ atMs: Date.parse(`${row.day}T00:00:00.000Z`), spent: row.spent }));
  // The sort is stable: within a day, purchases stay first.
  return [...bought, ...spent].sort((a, b) => a.atMs - b.atMs);
}

function runMonth(opening: Balance, planMicroUsd: number, events: readonly Event[]): Balance {
  let balance = startMonth(opening, planMicroUsd);
  for (const event of events) {
    balance = dropExpired(balance, event.atMs);
    balance = 'spent' in event ? spend(balance, event.spent) : purchase(balance, event.bought, event.expiresAtMs);
  }
  return balance;
}

/** The balance a month ended with, by file and month. A month that is over never changes. */
const closed = new LRUCache<string, Balance>({ max: CLOSED_MONTHS_MAX });

const beginning = columns({
  day: orNull(text).from('(SELECT min(day) FROM usage_days)'),
  purchasedAtMs: orNull(integer).from('(SELECT min(purchased_at_ms) FROM credit_purchases)'),
});

function firstMonth(db: Connection): string | undefined {
  const { day, purchasedAtMs } = beginning.get(db, '') ?? { day: null, purchasedAtMs: null };
  return [...(day === null ? [] : [day.slice(0, 7)]), ...(purchasedAtMs === null ? [] : [utcMonth(purchasedAtMs)])].sort()[0];
}

function openingOf(db: Connection, periods: readonly PlanPeriod[], month: string, nowMs: number): Balance {
  const first = firstMonth(db);
  if (first === undefined) return NOTHING;
  let balance = NOTHING;
  for (let past = first; past < month; past = nextMonth(past)) {
    const key = `${db.path}@${past}`;
    const known = closed.get(key);
    balance = known ?? runMonth(balance, planMicroUsdOf(periods, past), eventsOf(db, past, spendByDay(db, past)));
    if (known === undefined && nowMs >= monthStartMs(nextMonth(past)) + STRAGGLERS_MS) closed.set(key, balance);
  }
  return balance;
}

/**
 * The organisation's credit now. Plan credit resets on the first of the month (UTC) and is used first. Purchased credit is valid for 12
 * months. What was overdrawn is taken from the next credit. A change of plan counts for the whole month in which it is made.
 * @throws Error for an unknown organisation.
 */
export function creditState(control: Connection, db: Connection, organisationId: string, nowMs: number): CreditState {
  const periods = readPlanPeriods(control, organisationId);
  if (periods.length === 0) throw new Error(`no organisation ${organisationId}`);
  const month = utcMonth(nowMs);
  const planMicroUsd = planMicroUsdOf(periods, month);
  const days = spendByDay(db, month);
  const events = eventsOf(db, month, days);
  const balance = dropExpired(runMonth(openingOf(db, periods, month, nowMs), planMicroUsd, events), nowMs);
  const purchasedLeftMicroUsd = balance.lots.reduce((sum, lot) => sum + lot.left, 0);
  return {
    month,
    planMicroUsd,
    planLeftMicroUsd: balance.planLeft,
    purchasedLeftMicroUsd,
    overdrawnMicroUsd: balance.overdrawn,
    spentMicroUsd: days.reduce((sum, { spent }) => sum + spent, 0),
    failedMicroUsd: days.reduce((sum, { failed }) => sum + failed, 0),
    resetsAtMs: monthStartMs(nextMonth(month)),
    exhausted: balance.planLeft + purchasedLeftMicroUsd - balance.overdrawn <= 0,
  };
}

/** What is left of all kinds of credit, in millionths of a dollar; below zero when more was used than there was. */
export function creditLeft(credit: CreditState): number {
  return credit.planLeftMicroUsd + credit.purchasedLeftMicroUsd - credit.overdrawnMicroUsd;
}

/** When plan credit comes next: the first of the next month (UTC). */
export function creditResetsAtMs(nowMs: number): number {
  return monthStartMs(nextMonth(utcMonth(nowMs)));
}

const userCount = columns({ users: integer });

/** Live devices of 90 days, one per person where they are bound to one or one talked on them in this time (LIMIT-33). */
export function countUsers(db: Connection, nowMs: number): number {
  const from = `FROM (WITH seen AS (
        SELECT app_id, device_id, end_user_id FROM devices WHERE channel = 'live' AND seen_at_ms >= :sinceMs
        UNION
        SELECT app_id, device_id, end_user_id FROM conversations WHERE channel = 'live' AND updated_at_ms >= :sinceMs
      )
      SELECT (SELECT count(DISTINCT end_user_id) FROM seen) + (SELECT count(*) FROM (
        SELECT app_id, device_id FROM seen WHERE device_id <> ''
        EXCEPT SELECT app_id, device_id FROM seen WHERE end_user_id IS NOT NULL
      )) AS users)`;
  const row = userCount.get(db, from, { sinceMs: nowMs - USERS_WINDOW_DAYS * DAY_MS });
  return row?.users ?? 0;
}

/** Computing credit costs more than admitting a turn. Added credit counts after a second at most. */
const CREDIT_KEPT_MS = 1_000;
/** One small object per active organisation. */
const CREDIT_KEPT_MAX = 2_000;

interface KnownCredit {
  readonly atMs: number;
  /** Reduced by what was charged since; zero or less: exhausted. */
  leftMicroUsd: number;
}

/** Keyed by file, because an organisation's connection object may change. */
const known = new LRUCache<string, KnownCredit>({ max: CREDIT_KEPT_MAX });

/** As `exhausted` of `creditState`, from a cache: exact about spending (see noteCharged), at most a second late about added credit. */
export function isCreditExhaustedLately(control: Connection, db: Connection, organisationId: string, nowMs: number): boolean {
  let credit = known.get(db.path);
  if (credit === undefined || Math.abs(nowMs - credit.atMs) >= CREDIT_KEPT_MS) {
    credit = { atMs: nowMs, leftMicroUsd: creditLeft(creditState(control, db, organisationId, nowMs)) };
    known.set(db.path, credit);
  }
  return credit.leftMicroUsd <= 0;
}

/** To be called when a live charge was committed, here or elsewhere: the cached credit shrinks by it, and is computed anew near zero. */
export function noteCharged(db: Pick<Connection, 'path'>, costMicroUsd: number): void {
  const credit = known.get(db.path);
  if (credit === undefined || credit.leftMicroUsd <= 0) return;
  credit.leftMicroUsd -= costMicroUsd;
  // The cached value may include this charge already, so the rows decide.
  if (credit.leftMicroUsd <= 0) known.delete(db.path);
}

/** To be called when credit was bought, here or elsewhere, so that no refusal outlives it. */
export function noteBought(db: Pick<Connection, 'path'>): void {
  known.delete(db.path);
}

const sumOn = (channel: Channel, column: string) => integer.from(`sum(iif(channel = '${channel}', ${column}, 0))`);

const appUsage = columns({
  appId: text,
  liveMicroUsd: sumOn('live', 'cost_microusd'),
  failedMicroUsd: sumOn('live', 'failed_microusd'),
  liveTurns: sumOn('live', 'turns'),
  liveConversations: sumOn('live', 'conversations'),
  sandboxTurns: sumOn('sandbox', 'turns'),
  sandboxConversations: sumOn('sandbox', 'conversations'),
});

export type AppUsage = RowOf<typeof appUsage>;

/** Usage of each app that had any in `month` (`2026-11`), deleted apps included. */
export function usageByApp(db: Connection, month: string): AppUsage[] {
  return appUsage.all(db, 'FROM usage_days WHERE day >= :from AND day < :to GROUP BY app_id ORDER BY app_id', daysOf(month));
}

const dayUsage = columns({
  /** `2026-11-21`, UTC. */
  day: text,
  appId: text,
  liveMicroUsd: sumOn('live', 'cost_microusd'),
  failedMicroUsd: sumOn('live', 'failed_microusd'),
  liveTurns: sumOn('live', 'turns'),
  sandboxTurns: sumOn('sandbox', 'turns'),
});

export type DayUsage = RowOf<typeof dayUsage>;

export function usageByDay(db: Connection, month: string): DayUsage[] {
  return dayUsage.all(db, 'FROM usage_days WHERE day >= :from AND day < :to GROUP BY day, app_id ORDER BY day, app_id', daysOf(month));
}
