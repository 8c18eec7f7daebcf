/** What is configured of an app, as GET /context shows it: key `config`, and what intake read (SETUP-39, SETUP-40). */

import { setImmediate as breathe } from 'node:timers/promises';
import { INTAKE_ORIGIN } from '../../../actors/configuration/knowledge.ts';
import { USER_TOKEN_HEADER } from '../../../protocol/headers.ts';
import { timestamp } from '../../../protocol/timestamp.ts';
import type { AppRecord } from '../../../storage/apps/apps.ts';
import { type DraftWritten, readDraft, readPersona, readPublishedConfig } from '../../../storage/apps/drafts.ts';
import { type HttpActionRecord, listActions } from '../../../storage/apps/http-actions.ts';
import { latestManifest } from '../../../storage/apps/manifests.ts';
import { listScreens, registeredScreens, type ScreenRecord } from '../../../storage/apps/screens.ts';
import { readSourceContent } from '../../../storage/knowledge/knowledge.ts';
import { countKnowledge, listSourcesInService } from '../../../storage/knowledge/knowledge-overview.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { RenderedItems } from '../../http/json-pieces.ts';

/** Sources of one answer, oldest first; `next` asks for those after them. */
const SOURCES_LISTED_MAX = 200;
/** Pages that intake reads are few; more links than an app's intake can name are never told. */
const INTAKE_LISTED_MAX = 20;
/** Read and rendered in one go: the largest action has some 25 KB, a screen 3. */
const ACTIONS_PER_READ = 20;
const SCREENS_PER_READ = 100;
/** What shows an agent whether a page is worth having. */
const EXCERPT_MAX_CHARS = 300;

function excerptOf(db: Connection, sourceId: string): string | null {
  const content = readSourceContent(db, sourceId) ?? null;
  // A character is two units at most: what is cut off here would not be shown.
  return content === null
    ? null
    : Array.from(content.slice(0, EXCERPT_MAX_CHARS * 2))
        .slice(0, EXCERPT_MAX_CHARS)
        .join('');
}

/** What the service read from the links that the person entered. */
export function readIntake(db: Connection, appId: string) {
  return listSourcesInService(db, appId, INTAKE_LISTED_MAX, INTAKE_ORIGIN).map(({ id, title, kind, uri, state }) => ({
    title,
    kind,
    address: uri,
    status: state,
    excerpt: excerptOf(db, id),
  }));
}

/** Who wrote a draft last, and when: null before anybody did. */
function writtenToWire(written: DraftWritten | null | undefined) {
  return { origin: written?.origin ?? null, updated_at: written == null ? null : timestamp(written.atMs) };
}

/** The draft as it was written, and the publication as live apps are served it: with the colours that were derived. */
function readAppearance(db: Connection, app: AppRecord) {
  const { version, updatedAtMs, config } = readPublishedConfig(db, app, 'live');
  const { theme, themeDark, copilot } = config;
  const draft = readDraft(db, app.id);
  return {
    draft: draft?.appearance ?? null,
    ...writtenToWire(draft?.appearanceWritten),
    published: version === null ? null : { version, published_at: timestamp(updatedAtMs), theme, themeDark, copilot },
  };
}

function readExperience(db: Connection, app: AppRecord) {
  const draft = readDraft(db, app.id);
  const published = app.publishedVersion === null ? null : readPersona(db, app, 'live');
  return {
    persona: draft?.experience ?? null,
    ...writtenToWire(draft?.experienceWritten),
    personaVersion: draft?.personaVersion ?? 0,
    // As it can be sent back.
    published: published && { ...published, model: published.model ?? {} },
  };
}

function readKnowledge(db: Connection, appId: string, after: string) {
  const sources = listSourcesInService(db, appId, SOURCES_LISTED_MAX, null, after);
  return {
    total: countKnowledge(db, appId).sources,
    /** Send it as `sources_after`; null: these are the last ones. */
    next: sources.length === SOURCES_LISTED_MAX ? (sources.at(-1)?.id ?? null) : null,
    items: sources.map((source) => ({
      external_key: source.externalKey,
      kind: source.kind,
      title: source.title,
      uri: source.uri,
      status: source.state,
      error: source.error,
      chunks: source.chunks,
      origin: source.origin,
      reason: source.reason,
      updated_at: timestamp(source.updatedAtMs),
    })),
  };
}

/** An action as it is sent, with what has become of its key: that there is one, never the key. */
function actionToWire({ definition, hasKey, enabled, origin, reason, updatedAtMs }: HttpActionRecord) {
  return {
    ...definition,
    needs_key: definition.needs_key ?? null,
    has_key: hasKey,
    // Where the token comes from that such an action is called with.
    ...(definition.auth === 'user' && { user_token_header: USER_TOKEN_HEADER }),
    enabled,
    origin,
    reason,
    updated_at: timestamp(updatedAtMs),
  };
}

/** Renders what is in service of a list, page by page: an app's actions may have some megabytes. */
async function renderPages<Item extends { readonly archivedAtMs: number | null }>(
  pageAfter: (last: Item | undefined) => readonly Item[],
  toWire: (item: Item) => unknown,
) {
  const items = new RenderedItems();
  let total = 0;
  for (let page = pageAfter(undefined); page.length > 0; page = pageAfter(page.at(-1))) {
    const inService = page.filter(({ archivedAtMs }) => archivedAtMs === null);
    items.add(inService.map(toWire));
    total += inService.length;
    await breathe();
  }
  return { total, items };
}

function readActions(db: Connection, appId: string) {
  return renderPages<HttpActionRecord>((last) => listActions(db, appId, last?.id ?? '', ACTIONS_PER_READ), actionToWire);
}

function screenToWire({ name, definition, origin, updatedAtMs }: ScreenRecord, registered: ReadonlySet<string>) {
  return { ...definition, planned: !registered.has(name), origin, updated_at: timestamp(updatedAtMs) };
}

function readScreens(db: Connection, appId: string) {
  const registered = registeredScreens(db, appId);
  return renderPages<ScreenRecord>(
    (last) => listScreens(db, appId, last?.name ?? '', SCREENS_PER_READ),
    (screen) => screenToWire(screen, registered),
  );
}

function readManifestNames(db: Connection, appId: string) {
  const manifest = latestManifest(db, appId);
  if (manifest === undefined) return null;
  const { actions, routes } = manifest.document;
  return { sdk: manifest.sdk, actions: actions.map(({ name }) => name), routes: routes.map(({ name }) => name) };
}

/** Key `config`; what was archived is left out. Sources come in pages: those after the id `sourcesAfter`. `total` says how many there are. */
export async function readConfiguration(db: Connection, app: AppRecord, sourcesAfter = '') {
  return {
    appearance: readAppearance(db, app),
    experience: readExperience(db, app),
    knowledge: readKnowledge(db, app.id, sourcesAfter),
    actions: await readActions(db, app.id),
    screens: await readScreens(db, app.id),
    manifest: readManifestNames(db, app.id),
  };
}
