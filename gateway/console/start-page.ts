/** GET /console: one page without scripts that says what there is and where its interface lies. */
import { toUsd } from '../../protocol/money.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type AppRecord, listApps } from '../../storage/apps/apps.ts';
import { creditState } from '../../storage/billing/usage.ts';
import { listOrganisations, type OrganisationRecord, organisationOfApp } from '../../storage/organisations/organisations.ts';
import { readIfThere } from '../../storage/sqlite/storage-error.ts';
import { defineRoute, type Reply, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { type ConsoleSession, endExpiredSession, followConsoleLink, readSession, sessionCookie } from './operator-session.ts';

/** The page shows the first ones; the interface pages through all. */
const ORGANISATIONS_SHOWN = 50;
const APPS_SHOWN = 100;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2230;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #d9dde5;vertical-align:top}
code{font:.9em ui-monospace,monospace}a{color:#0b57d0}
@media (prefers-color-scheme:dark){body{color:#e6e9ef;background:#14171d}th,td{border-color:#333a46}a{color:#8ab4f8}}`;

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

function html(status: number, body: string, head = ''): Reply {
  const text = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Console</title>${head}
<style>${STYLE}</style></head><body>
${body}
</body></html>
`;
  return { kind: 'text', status, body: text, headers: HEADERS };
}

function signInPage(status: number, why: string): Reply {
  return html(
    status,
    `<h1>Console</h1><p>${why}</p>
<p>The server prints a one-time link to this page when it starts. The interface itself takes the operator token:</p>
<pre><code>curl -H "Authorization: Bearer $OPERATOR_TOKEN" …/console/api/orgs</code></pre>`,
  );
}

function appRow(app: AppRecord): string {
  const state = app.settings.suspended ? 'suspended' : app.live ? 'live' : 'not live yet';
  const published = app.publishedVersion === null ? 'nothing' : `version ${app.publishedVersion}`;
  const links = ['appearance', 'experience', 'knowledge', 'keys'].map(
    (part) => `<a href="/console/api/apps/${app.id}/${part}">${part}</a>`,
  );
  return `<tr><td>${escaped(app.name)}<br><a href="/console/api/apps/${app.id}"><code>${app.id}</code></a></td>
<td>${state}</td><td>${published}</td><td>${links.join(' · ')}</td></tr>`;
}

function organisationSection(organisation: OrganisationRecord, services: Services): string {
  const { storage } = services;
  const db = storage.organisation(organisation.id);
  const apps = listApps(db, organisation.id).filter((app) => organisationOfApp(storage.control, app.id) === organisation.id);
  const credit = creditState(storage.control, db, organisation.id, services.nowMs());
  const left = toUsd(credit.planLeftMicroUsd + credit.purchasedLeftMicroUsd - credit.overdrawnMicroUsd).toFixed(2);
  const shown = apps.slice(0, APPS_SHOWN);
  const more = apps.length > shown.length ? `<p>${apps.length - shown.length} more: see the interface.</p>` : '';
  const table =
    shown.length === 0
      ? '<p>No apps yet.</p>'
      : `<table><tr><th>App</th><th>State</th><th>Published</th><th>Look at</th></tr>${shown.map(appRow).join('')}</table>${more}`;
  return `<h2>${escaped(organisation.name)}</h2>
<p><a href="/console/api/orgs/${organisation.id}"><code>${organisation.id}</code></a> · plan ${organisation.plan} · ${left} USD of credit left ·
<a href="/console/api/orgs/${organisation.id}/usage">usage</a></p>${table}`;
}

/** Stands for an organisation whose file is missing or damaged; the others are still shown. */
function awaySection({ id, name }: OrganisationRecord): string {
  return `<h2>${escaped(name)}</h2><p><code>${id}</code> · its data is not there at the moment: see <code>GET /readyz</code>, asked with the operator's token.</p>`;
}

function overview(session: ConsoleSession, routes: readonly Route[], services: Services): Reply {
  const organisations = listOrganisations(services.storage.control, '', ORGANISATIONS_SHOWN);
  const sections =
    organisations.length === 0
      ? '<p>No organisations yet.</p>'
      : organisations.map((one) => readIfThere(() => organisationSection(one, services), awaySection(one))).join('');
  const endpoints = routes.map(({ method, path }) => `<li><code>${method} ${escaped(path)}</code></li>`).join('');
  return html(
    200,
    `<h1>Console</h1>${sections}
<h2>Interface</h2><p>Everything is done through the interface; <a href="/docs/console.md">its documentation</a> has one worked call for each endpoint.
Signed in until ${timestamp(session.expiresAtMs)}.</p><ul>${endpoints}</ul>`,
    `<meta name="csrf-token" content="${session.csrfToken}">`,
  );
}

/** The page's routes; `routes` is the interface that it lists. */
export function consolePageRoutes(routes: readonly Route[]): readonly Route[] {
  const pageRoute = defineRoute({
    method: 'GET',
    path: '/console',
    caller: 'anyone',
    async handle({ query, header }, services) {
      const code = query.get('once');
      if (code !== null) {
        const opened = await followConsoleLink(code, services);
        if (opened === undefined) return signInPage(403, 'This link was used already, or is older than 15 minutes.');
        // Redirects away from the address with the code, which keeps it out of the history.
        const headers = { Location: '/console', 'Set-Cookie': sessionCookie(opened, services), 'Cache-Control': 'no-store' };
        return { kind: 'text', status: 303, body: '', headers };
      }
      const session = readSession(header, services);
      if (session !== undefined) return overview(session, routes, services);
      await endExpiredSession(header, services);
      return signInPage(401, 'You are not signed in.');
    },
  });
  return [pageRoute];
}
