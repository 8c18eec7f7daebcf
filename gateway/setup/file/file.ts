/** The setup file of GET /file (SETUP-33 to SETUP-37). Numbers, steps and requests come from the server's own definitions. */
import { readFileSync } from 'node:fs';
import mustache from 'mustache';
import type { Release } from '../../../actors/setup/release.ts';
import { formOf } from '../../../protocol/console/apps.ts';
import type { SessionKind } from '../../../protocol/console/sessions.ts';
import { ERROR_TABLE } from '../../../protocol/errors.ts';
import { USER_TOKEN_HEADER } from '../../../protocol/headers.ts';
import * as limits from '../../../protocol/limits.ts';
import { webSdkFolder } from '../../../protocol/runtime/web-sdk.ts';
import { KNOWN_TOOLS } from '../../../protocol/setup/start.ts';
import { EVENT_STATUSES, STEPS } from '../../../protocol/setup/steps.ts';
import type { WriteMode } from '../../../protocol/setup/writes.ts';
import { timestamp } from '../../../protocol/timestamp.ts';
import { attribute } from '../context/snippets.ts';
import { WORKED, WORKED_CHAT, WORKED_MANIFEST } from './requests.ts';
import { dataArgument, inlineCode, setupCurl, shellWord } from './shell.ts';

export interface SetupFileInput {
  readonly baseUrl: string;
  readonly docsUrl: string;
  readonly token: string;
  readonly app: { readonly name: string; readonly platformHint: string; readonly live: boolean };
  readonly release: Pick<Release, 'auto_go_live' | 'publish_on_go_live' | 'published_version'>;
  readonly session: { readonly kind: SessionKind; readonly expiresAtMs: number; readonly writes: WriteMode };
}

const TEMPLATE = new URL('../../../../gateway/setup/file/setup-file.md', import.meta.url);
const MB = 1024 * 1024;

const mapped = <Value>(entries: Iterable<readonly [string, Value]>, value: (of: Value) => unknown) =>
  Object.fromEntries(Array.from(entries, ([name, of]) => [name, value(of)]));

const grouped = (count: unknown) => (typeof count === 'number' ? count.toLocaleString('en-US') : count);

/** What is the same in every file. Limits go by their names, in megabytes (of 1,024² bytes) as `mb.NAME`. */
const SAME = {
  ...mapped(Object.entries(limits), grouped),
  mb: mapped(Object.entries(limits), (limit) => (typeof limit === 'number' ? `${grouped(limit / MB)} MB` : limit)),
  smokeSeconds: limits.SMOKE_TIMEOUT_MS / 1_000,
  // A client gives up after the server has.
  smokeWaitSeconds: limits.SMOKE_TIMEOUT_MS / 1_000 + 20,
  passPercent: limits.SMOKE_PASS_SHARE * 100,
  tools: KNOWN_TOOLS.join(', '),
  statuses: EVENT_STATUSES.join(', '),
  userTokenHeader: USER_TOKEN_HEADER,
  status: mapped(Object.entries(ERROR_TABLE), ({ status }) => status),
  closedBy: Object.fromEntries(STEPS.map(({ id, closedBy }) => [id, closedBy])),
  curl: mapped(Object.entries(WORKED), setupCurl),
  data: { manifest: dataArgument(WORKED_MANIFEST.body), chat: dataArgument(WORKED_CHAT.body) },
};

let template: string | undefined;

export function renderSetupFile({ baseUrl, docsUrl, token, app, release, session }: SetupFileInput): string {
  template ??= readFileSync(TEMPLATE, 'utf8');
  const form = formOf(app.platformHint);
  const view = {
    ...SAME,
    name: inlineCode(app.name),
    platform: app.platformHint === '' ? '' : `, platform ${inlineCode(app.platformHint)}`,
    live: app.live,
    kind: session.kind,
    sync: session.kind === 'sync',
    proposes: session.writes === 'propose',
    until: timestamp(session.expiresAtMs),
    setup: shellWord(baseUrl),
    token: shellWord(token),
    byItself: release.auto_go_live,
    version: release.published_version,
    publishes: release.publish_on_go_live,
    web: form === 'web',
    native: form === 'native',
    unknown: form === 'unknown',
    docs: docsUrl.slice(0, docsUrl.lastIndexOf('/') + 1),
    widget: attribute(`${baseUrl.slice(0, baseUrl.lastIndexOf('/'))}${webSdkFolder('latest')}assistant.js`),
  };
  return mustache.render(template, view, {}, { tags: ['<%', '%>'], escape: String });
}
