/**
 * What the console shows of organisations and apps at a glance (CONSOLE-31 to CONSOLE-33). Of a file that is closed it shows what was found
 * when it was closed, which is kept as it is answered: nobody has written to it since, so only days have passed.
 */
import type { AppEvent, AppGlance, AppHealth, Counts, Glance, Health, TriedByHour, Waits } from '../protocol/console/glance-answers.ts';
import { toUsd } from '../protocol/money.ts';
import { timestamp } from '../protocol/timestamp.ts';
import {
  type AppHead,
  readAppEvents,
  readAppHeads,
  readNewestSetup,
  readUsageDays,
  UNDECIDED,
  type UsageDay,
} from '../storage/apps/app-glance.ts';
import { countActions } from '../storage/apps/http-actions.ts';
import { isBlocked } from '../storage/apps/manifests.ts';
import {
  type AppHour,
  addedFirstWords,
  HOUR_MS,
  medianFirstWord,
  readAppHours,
  readTriedHours,
  type TriedOfApp,
} from '../storage/billing/app-hours.ts';
import { creditLeft, creditState } from '../storage/billing/usage.ts';
import { utcDay } from '../storage/billing/usage-ledger.ts';
import { countKnowledge } from '../storage/knowledge/knowledge-overview.ts';
import { appsOfOrganisation, type Channel } from '../storage/organisations/organisations.ts';
import { countRows } from '../storage/sqlite/columns.ts';
import type { Connection } from '../storage/sqlite/connection.ts';

const DAY_HOURS = 24;
const DAY_MS = DAY_HOURS * HOUR_MS;
const WEEK_DAYS = 7;
/** Apps of one organisation: as many as a person looks over. Their page lists all. */
const APPS_SHOWN = 20;
/** Newest events of an organisation. */
const EVENTS_SHOWN = 5;

/** People meet the live key; before that, whoever builds the app meets the test key. */
export function shownChannel({ live }: Pick<AppHead, 'live'>): Channel {
  return live ? 'live' : 'sandbox';
}

export function countsOf(channel: Channel, days: readonly UsageDay[], hours: readonly AppHour[]): Counts {
  const sum = (of: (hour: AppHour) => number) => hours.reduce((total, hour) => total + of(hour), 0);
  return {
    turns: days.reduce((total, { turns }) => total + turns, 0),
    ended: sum(({ ended }) => ended),
    failed: sum(({ failed }) => failed),
    first_word_ms: medianFirstWord(hours.reduce<number[]>((all, { firstWords }) => addedFirstWords(all, firstWords), [])),
    people: channel === 'live' ? sum(({ people }) => people) : null,
    spent_usd: toUsd(days.reduce((total, { costMicroUsd }) => total + costMicroUsd, 0)),
  };
}

export function waitsOf(db: Connection, { id: appId, live }: Pick<AppHead, 'id' | 'live'>): Waits {
  const setup = live ? null : readNewestSetup(db, appId);
  return {
    proposals: countRows(db, UNDECIDED, { appId }),
    keys: countActions(db, appId).needsKey,
    sources: countKnowledge(db, appId).failed,
    setup: setup === null ? null : setup.isOpen ? 'open' : 'ended',
    todos: setup?.todos ?? 0,
  };
}

export function eventsOf(db: Connection, appId: string, limit: number): AppEvent[] {
  return readAppEvents(db, appId, limit).map(({ atMs, kind, detail }) => ({
    ...{ app_id: appId, at: timestamp(atMs) },
    ...{ kind: kind as AppEvent['kind'], detail },
  }));
}

/** The first hour of the day (UTC), since 1970. */
export function firstHourOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS) * DAY_HOURS;
}

/** The last `count` days (UTC), today last. */
export function lastDays(count: number, nowMs: number): string[] {
  return Array.from({ length: count }, (_, at) => utcDay(nowMs - (count - 1 - at) * DAY_MS));
}

function glanceOfApp(db: Connection, app: AppHead, nowMs: number): AppGlance {
  const { id, name, live, suspended, lastAtMs } = app;
  const channel = shownChannel(app);
  const week = lastDays(WEEK_DAYS, nowMs);
  const used = readUsageDays(db, id, channel, week[0] ?? '');
  const today = used.filter(({ day }) => day === week.at(-1));
  return {
    ...{ id, name, live, suspended, blocked: isBlocked(db, app, app.domains), channel: live ? 'live' : 'test' },
    ...countsOf(channel, today, readAppHours(db, id, channel, firstHourOf(nowMs))),
    week: week.map((day) => used.find((each) => each.day === day)?.turns ?? 0),
    last_at: timestamp(lastAtMs),
    waits: waitsOf(db, app),
  };
}

/** A row without an entry in the directory is no app yet, or no more. */
function headsOf(control: Connection, db: Connection, organisationId: string): AppHead[] {
  const listed = appsOfOrganisation(control, organisationId);
  return readAppHeads(db).filter(({ id }) => listed.has(id));
}

function byHour(rows: readonly TriedOfApp[], fromHour: number, hours: number): TriedByHour {
  const [tried, failed] = [Array<number>(hours).fill(0), Array<number>(hours).fill(0)];
  for (const row of rows) {
    const at = row.hour - fromHour;
    if (at >= hours) continue;
    tried[at] = (tried[at] ?? 0) + row.tried;
    failed[at] = (failed[at] ?? 0) + row.failed;
  }
  return { tried, failed };
}

/** How the hours up to now went for these apps. */
export function healthOf(db: Connection, apps: readonly Pick<AppHead, 'id' | 'name'>[], hours: number, nowMs: number): Health {
  const fromHour = Math.floor(nowMs / HOUR_MS) - hours + 1;
  const of = ({ id, name }: Pick<AppHead, 'id' | 'name'>): AppHealth => {
    const rows = readTriedHours(db, id, fromHour);
    const kind = (wanted: TriedOfApp['kind']) =>
      byHour(
        rows.filter((row) => row.kind === wanted),
        fromHour,
        hours,
      );
    return { app_id: id, name, turns: kind('turns'), model: kind('model'), backend: kind('backend'), knowledge: kind('knowledge') };
  };
  return { from: timestamp(fromHour * HOUR_MS), hours, apps: apps.map(of) };
}

/** The last 24 hours of the apps that were used last. */
export function healthOfOrganisation(control: Connection, db: Connection, organisationId: string, nowMs: number): Health {
  return healthOf(db, headsOf(control, db, organisationId).slice(0, APPS_SHOWN), DAY_HOURS, nowMs);
}

/** @throws Error for an unknown organisation */
export function readGlanceOf(
  control: Connection,
  db: Connection,
  organisationId: string,
  nowMs: number,
  credit = creditState(control, db, organisationId, nowMs),
): Glance {
  const heads = headsOf(control, db, organisationId);
  const shown = heads.slice(0, APPS_SHOWN);
  const events = shown.flatMap(({ id }) => eventsOf(db, id, EVENTS_SHOWN));
  return {
    day: utcDay(nowMs),
    apps: shown.map((app) => glanceOfApp(db, app, nowMs)),
    apps_total: heads.length,
    credit: { left_usd: toUsd(creditLeft(credit)), spent_usd: toUsd(credit.spentMicroUsd) },
    events: events.sort((one, other) => (one.at < other.at ? 1 : -1)).slice(0, EVENTS_SHOWN),
  };
}

/** A glance that was kept when the file was closed, as of now: what was today's is a day of the week by now, or gone. */
export function keptGlance(kept: string, nowMs: number): Glance | null {
  if (kept === '') return null;
  const glance = JSON.parse(kept) as Glance;
  const passed = Math.floor((Date.parse(utcDay(nowMs)) - Date.parse(glance.day)) / DAY_MS);
  if (passed <= 0) return glance;
  const apps = glance.apps.map((app) => ({
    ...app,
    ...countsOf(shownChannel(app), [], []),
    week: [...app.week, ...Array<number>(Math.min(passed, WEEK_DAYS)).fill(0)].slice(-WEEK_DAYS),
  }));
  return { ...glance, apps };
}
