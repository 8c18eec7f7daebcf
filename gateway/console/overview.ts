/** Console: how organisations and apps are, from counts that are kept (CONSOLE-31 to CONSOLE-33). */
import { setImmediate as breathe } from 'node:timers/promises';
import {
  countsOf,
  eventsOf,
  firstHourOf,
  healthOf,
  healthOfOrganisation,
  keptGlance,
  lastDays,
  readGlanceOf,
  shownChannel,
  waitsOf,
} from '../../actors/organisation-glance.ts';
import type { AppSummary, Glance, Health, Overview, OverviewEntry } from '../../protocol/console/glance-answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { readAppHead, readUsageDays } from '../../storage/apps/app-glance.ts';
import { listBuilds } from '../../storage/apps/manifests.ts';
import { HOUR_MS, readAppHours } from '../../storage/billing/app-hours.ts';
import { creditState } from '../../storage/billing/usage.ts';
import { readGlance } from '../../storage/organisations/organisation-uses.ts';
import { listOrganisations } from '../../storage/organisations/organisations.ts';
import { readIfThere } from '../../storage/sqlite/storage-error.ts';
import { consoleRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { appRoute, requireOrganisation } from './app-read.ts';
import { pageOf } from './pages.ts';

async function glanceAt({ billing, nowMs, storage }: Services, id: string): Promise<Glance | null> {
  const kept = readGlance(storage.control, id);
  if (kept !== undefined) return keptGlance(kept, nowMs());
  // What this process has counted since the last time is not in rows yet.
  await billing.hours.flush(id);
  // With hundreds of apps each of the two takes some milliseconds.
  const credit = readIfThere(() => creditState(storage.control, storage.organisation(id), id, nowMs()), null);
  if (credit === null) return null;
  await breathe();
  return readIfThere(() => readGlanceOf(storage.control, storage.organisation(id), id, nowMs(), credit), null);
}

const overviewRoute = consoleRoute('GET', '/overview', undefined, async ({ query }, services) => {
  const { items, next } = pageOf(query, 'id', (after, limit) => {
    return listOrganisations(services.storage.control, after, limit, query.get('name') ?? '');
  });
  const orgs: OverviewEntry[] = [];
  for (const { id, name, plan } of items) {
    orgs.push({ id, name, plan, glance: await glanceAt(services, id) });
    // Each is a millisecond or a few: other requests are let in between.
    await breathe();
  }
  return json<Overview>({ orgs, next });
});

const SUMMARY_DAYS = [1, 7, 30];
const BUILDS_SHOWN = 5;
const EVENTS_SHOWN = 8;
const DAY_HOURS = 24;

const summaryRoute = appRoute('GET', '/summary', undefined, async ({ app, db }, { query }, services) => {
  const days = Number(query.get('days') ?? 1);
  if (!SUMMARY_DAYS.includes(days)) throw new Refusal('invalid_request', `days must be one of ${SUMMARY_DAYS.join(', ')}.`);
  await services.billing.hours.flush(app.organisationId);
  const nowMs = services.nowMs();
  const channel = shownChannel(app);
  const names = lastDays(days, nowMs);
  const used = readUsageDays(db, app.id, channel, names[0] ?? '');
  const today = firstHourOf(nowMs);
  const hours = readAppHours(db, app.id, channel, today - (days - 1) * DAY_HOURS);
  const step = days === 1 ? 1 : DAY_HOURS;
  const length = days === 1 ? Math.floor(nowMs / HOUR_MS) - today + 1 : days;
  const series = Array.from({ length }, (_, at) => {
    const from = today - (days - 1) * DAY_HOURS + at * step;
    const own = hours.filter(({ hour }) => hour >= from && hour < from + step);
    const counts = countsOf(channel, days === 1 ? [] : used.filter(({ day }) => day === names[at]), own);
    return { at: timestamp(from * HOUR_MS), ...counts, ...(days === 1 && { turns: counts.ended }) };
  });
  return json<AppSummary>({
    days,
    channel: app.live ? 'live' : 'test',
    total: countsOf(channel, used, hours),
    series,
    last_at: timestamp(readAppHead(db, app.id)?.lastAtMs ?? null),
    waits: waitsOf(db, app),
    builds: listBuilds(db, app.id, BUILDS_SHOWN).map(({ hash, sdk, actions, screens, counts, firstSeenAtMs, lastSeenAtMs }) => ({
      ...{ hash, sdk, actions, screens, counts },
      ...{ first_seen_at: timestamp(firstSeenAtMs), last_seen_at: timestamp(lastSeenAtMs) },
    })),
    events: eventsOf(db, app.id, EVENTS_SHOWN),
  });
});

const organisationHealthRoute = consoleRoute('GET', '/orgs/:org/health', undefined, async ({ params }, services) => {
  const { id } = requireOrganisation(services, params.org);
  await services.billing.hours.flush(id);
  return json<Health>(healthOfOrganisation(services.storage.control, services.storage.organisation(id), id, services.nowMs()));
});

/** A week. */
const HEALTH_HOURS = 7 * DAY_HOURS;

const appHealthRoute = appRoute('GET', '/health', undefined, async ({ app, db }, _, services) => {
  await services.billing.hours.flush(app.organisationId);
  return json<Health>(healthOf(db, [app], HEALTH_HOURS, services.nowMs()));
});

export const overviewRoutes: readonly Route[] = [overviewRoute, summaryRoute, organisationHealthRoute, appHealthRoute];
