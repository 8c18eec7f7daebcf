/** Drafts of an app's appearance and persona, their publication, and what each channel is served. */
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import { completeTheme, deriveDark } from '../../protocol/appearance/complete-theme.ts';
import { Refusal } from '../../protocol/errors.ts';
import { type AppearanceBody, type AppearanceDraft, appearanceBody, replaceAppearance } from '../../protocol/setup/appearance.ts';
import {
  completePersona,
  type ExperienceDraft,
  type ExperiencePatch,
  experiencePatch,
  type Persona,
} from '../../protocol/setup/persona.ts';
import type { Origin } from '../../protocol/setup/writes.ts';
import type { Channel } from '../organisations/organisations.ts';
import { columns, integer, json, orNull, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

export interface DraftWritten {
  readonly origin: Origin | null;
  readonly atMs: number;
}

export interface Draft {
  /** Null until first written, here and below. */
  readonly appearance: AppearanceDraft | null;
  readonly experience: ExperienceDraft | null;
  readonly appearanceWritten: DraftWritten | null;
  readonly experienceWritten: DraftWritten | null;
  readonly personaVersion: number;
  readonly publishedVersion: number | null;
  readonly updatedAtMs: number;
}

export interface PublishedConfig {
  readonly version: number | null;
  readonly updatedAtMs: number;
  /** `theme`, `themeDark?`, `copilot`; {} means: keep what the code passed to init. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Older publications are never served again; a few are kept as history. */
const PUBLICATIONS_KEPT = 20;
/** Both channels of 1,000 apps; an entry is about 5 KB. */
const CACHED_MAX = 2_000;

interface Served {
  readonly published: PublishedConfig;
  readonly persona: Persona;
}

/** By app, revision and channel: every write to a draft or publication raises the revision. */
const cache = new LRUCache<string, Served>({ max: CACHED_MAX });

const draftRow = columns({
  appearance: orNull(json<AppearanceDraft>()).from('appearance_draft'),
  experience: orNull(json<ExperienceDraft>()).from('experience_draft'),
  appearanceOrigin: orNull(text.as<Origin>()),
  appearanceAtMs: orNull(integer),
  experienceOrigin: orNull(text.as<Origin>()),
  experienceAtMs: orNull(integer),
  personaVersion: integer,
  publishedVersion: orNull(integer),
  updatedAtMs: integer,
});

function writtenOf(origin: Origin | null, atMs: number | null): DraftWritten | null {
  return atMs === null ? null : { origin, atMs };
}

interface DraftedApp {
  readonly id: string;
  readonly revision: number;
  readonly publishedVersion: number | null;
  readonly updatedAtMs: number;
}

export function readDraft(db: Connection, appId: string): Draft | undefined {
  const row = draftRow.get(db, 'FROM apps WHERE id = :appId', { appId });
  if (row === undefined) return undefined;
  const { appearanceOrigin, appearanceAtMs, experienceOrigin, experienceAtMs, ...draft } = row;
  return {
    ...draft,
    appearanceWritten: writtenOf(appearanceOrigin, appearanceAtMs),
    experienceWritten: writtenOf(experienceOrigin, experienceAtMs),
  };
}

const draftPair = columns({
  appearance: orNull(text).from('appearance_draft'),
  experience: orNull(text).from('experience_draft'),
  updatedAtMs: integer,
});
const publishedPair = columns({ appearance: orNull(text), experience: orNull(text), updatedAtMs: integer.from('published_at_ms') });

function readPublishedPair(db: Connection, appId: string, version: number | null) {
  return publishedPair.get(db, 'FROM publications WHERE app_id = :appId AND version = :version', { appId, version });
}

function readDraftPair(db: Connection, appId: string) {
  return draftPair.get(db, 'FROM apps WHERE id = :appId', { appId });
}

/** What a column holds, checked again on the way out: null for nothing, undefined for something that is no longer valid. */
function validated<Schema extends v.GenericSchema>(
  schema: Schema,
  document: string | null | undefined,
): v.InferOutput<Schema> | null | undefined {
  if (document === null || document === undefined) return null;
  try {
    const result = v.safeParse(schema, JSON.parse(document));
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}

export interface Publication {
  readonly appearance: AppearanceDraft | null;
  readonly experience: ExperienceDraft | null;
}

/** The drafts as they were when `version` was published, for what changed since; both null when there is no such version. */
export function readPublication(db: Connection, appId: string, version: number | null): Publication {
  const stored = version === null ? undefined : readPublishedPair(db, appId, version);
  return {
    appearance: validated(appearanceBody, stored?.appearance) ?? null,
    experience: validated(experiencePatch, stored?.experience) ?? null,
  };
}

function configOf(appearance: AppearanceDraft | null, experience: ExperienceDraft | null): Record<string, unknown> {
  const copilot: Record<string, unknown> = { ...appearance?.copilot };
  for (const name of ['assistantName', 'welcomeTitle', 'welcomeBody', 'suggestions', 'languages'] as const) {
    const value = experience?.[name];
    // Empty fields are left to the SDK.
    if (value !== undefined && value.length > 0) copilot[name] = value;
  }
  return {
    // Complete, so that a client draws what the console showed, and in the dark too.
    ...(appearance !== null && {
      theme: completeTheme(appearance.theme),
      themeDark: deriveDark(appearance.theme, appearance.themeDark),
    }),
    ...(Object.keys(copilot).length > 0 && { copilot }),
  };
}

function serve(db: Connection, app: DraftedApp, channel: Channel): Served {
  const key = `${app.id}@${app.revision}:${channel}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const stored = channel === 'sandbox' ? readDraftPair(db, app.id) : readPublishedPair(db, app.id, app.publishedVersion);
  const appearance = validated(appearanceBody, stored?.appearance);
  const experience = validated(experiencePatch, stored?.experience);
  const valid = appearance !== undefined && experience !== undefined;
  const served: Served = {
    published: {
      version: app.publishedVersion,
      updatedAtMs: stored?.updatedAtMs ?? app.updatedAtMs,
      config: valid ? configOf(appearance, experience) : {},
    },
    persona: completePersona(experience ?? {}),
  };
  cache.set(key, served);
  return served;
}

/** For GET /v1/apps/config (CONFIG-1): published for the live channel, the drafts for the sandbox. A row that is no longer valid is served as {}. */
export function readPublishedConfig(db: Connection, app: DraftedApp, channel: Channel): PublishedConfig {
  return serve(db, app, channel).published;
}

export function readPersona(db: Connection, app: DraftedApp, channel: Channel): Persona {
  return serve(db, app, channel).persona;
}

function draftOrRefuse(db: Connection, appId: string): Draft {
  const draft = readDraft(db, appId);
  if (draft === undefined) throw new Refusal('not_found', `There is no app ${appId}.`);
  return draft;
}

function differing(before: object | null | undefined, after: object | null | undefined, prefix: string): string[] {
  const old = new Map<string, unknown>(Object.entries(before ?? {}));
  const young = new Map<string, unknown>(Object.entries(after ?? {}));
  const names = new Set([...old.keys(), ...young.keys()]);
  return [...names].filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(young.get(name))).map((name) => `${prefix}${name}`);
}

export function storeAppearanceDraft(
  db: Connection,
  { appId, draft, origin, nowMs }: { appId: string; draft: AppearanceDraft; origin?: Origin | undefined; nowMs: number },
): void {
  const update = `UPDATE apps SET appearance_draft = :draft, appearance_origin = :origin, appearance_at_ms = :nowMs, revision = revision + 1,
      updated_at_ms = :nowMs
    WHERE id = :appId`;
  db.statement(update).run({ appId, draft: JSON.stringify(draft), origin: origin ?? null, nowMs });
}

/** Replaces the appearance draft (see replaceAppearance). `changed` names tokens: `theme.accent`. @throws Refusal not_found. */
function saveAppearanceDraft(
  db: Connection,
  input: { appId: string; body: AppearanceBody; origin?: Origin; nowMs: number },
): { draft: AppearanceDraft; changed: string[] } {
  const before = draftOrRefuse(db, input.appId).appearance;
  const draft = replaceAppearance(before, input.body);
  const changed = [
    ...differing(before?.theme, draft.theme, 'theme.'),
    ...differing(before?.themeDark, draft.themeDark, 'themeDark.'),
    ...differing(before?.copilot, draft.copilot, 'copilot.'),
  ];
  // An equal draft writes nothing, so every cached copy stays valid.
  if (JSON.stringify(draft) === JSON.stringify(before)) return { draft, changed };
  storeAppearanceDraft(db, { ...input, draft });
  return { draft, changed };
}

/** Patches the persona draft; its version rises when a field other than `reason` changed. @throws Refusal not_found. */
function saveExperienceDraft(
  db: Connection,
  input: { appId: string; patch: ExperiencePatch; origin?: Origin; nowMs: number },
): { draft: ExperienceDraft; personaVersion: number; changed: string[] } {
  const before = draftOrRefuse(db, input.appId);
  const draft: ExperienceDraft = { ...before.experience, ...input.patch };
  const changed = differing(before.experience, draft, '').filter((name) => name !== 'reason');
  const personaVersion = before.personaVersion + (changed.length > 0 ? 1 : 0);
  if (JSON.stringify(draft) === JSON.stringify(before.experience)) return { draft, personaVersion, changed };
  const update = `UPDATE apps SET experience_draft = :draft, experience_origin = :origin, experience_at_ms = :nowMs, persona_version = :personaVersion,
      revision = revision + 1, updated_at_ms = :nowMs
    WHERE id = :appId`;
  const { appId, origin = null, nowMs } = input;
  db.statement(update).run({ appId, draft: JSON.stringify(draft), origin, personaVersion, nowMs });
  return { draft, personaVersion, changed };
}

/** Whether publishing would make another version. */
export function hasUnpublished(db: Connection, appId: string, publishedVersion: number | null): boolean {
  const drafts = readDraftPair(db, appId);
  const latest = readPublishedPair(db, appId, publishedVersion);
  return (drafts?.appearance ?? null) !== (latest?.appearance ?? null) || (drafts?.experience ?? null) !== (latest?.experience ?? null);
}

/** Publishing what is published already answers that version. @throws Refusal not_found; conflict when there is nothing to publish yet. */
export function publishDrafts(db: Connection, input: { appId: string; nowMs: number }): { version: number } {
  const { appId, nowMs } = input;
  const { publishedVersion } = draftOrRefuse(db, appId);
  const drafts = readDraftPair(db, appId);
  if (drafts === undefined || (drafts.appearance === null && drafts.experience === null)) {
    throw new Refusal('conflict', 'There is nothing to publish: neither an appearance nor a persona has been written.');
  }
  if (publishedVersion !== null && !hasUnpublished(db, appId, publishedVersion)) return { version: publishedVersion };
  const version = (publishedVersion ?? 0) + 1;
  const insert = `INSERT INTO publications (app_id, version, appearance, experience, published_at_ms)
    SELECT id, :version, appearance_draft, experience_draft, :nowMs FROM apps WHERE id = :appId`;
  db.statement(insert).run({ appId, version, nowMs });
  db.statement('DELETE FROM publications WHERE app_id = :appId AND version <= :oldest').run({ appId, oldest: version - PUBLICATIONS_KEPT });
  const update = 'UPDATE apps SET published_version = :version, revision = revision + 1, updated_at_ms = :nowMs WHERE id = :appId';
  db.statement(update).run({ appId, version, nowMs });
  return { version };
}

export const transactions = { saveAppearanceDraft, saveExperienceDraft, publishDrafts };
