/** The writes that configure an app (docs/specification/configuration.md), one set of rules. Bodies have passed their schemas. */
import { contrastWarnings } from '../../protocol/appearance/contrast.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { HttpActionShape, Surroundings } from '../../protocol/setup/actions.ts';
import type { AppearanceBody } from '../../protocol/setup/appearance.ts';
import type { KnowledgeItemShape } from '../../protocol/setup/knowledge.ts';
import { type ModelOffer, unlistedIn } from '../../protocol/setup/model-choice.ts';
import type { ExperiencePatch } from '../../protocol/setup/persona.ts';
import type { ScreensBody } from '../../protocol/setup/screens.ts';
import type { SetupWrite } from '../../protocol/setup/writes.ts';
import { readAsset } from '../../storage/apps/assets.ts';
import { countPlanned } from '../../storage/apps/screens.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Leases } from '../leases.ts';
import { takeInActions } from './actions.ts';
import { type KnowledgeServices, saveKnowledge } from './knowledge.ts';
import { takeInLogo } from './logo.ts';
import { listed, tally } from './text-format.ts';
import { inWriteOrder, type WriteTarget } from './write-queue.ts';

function noteOn(planned: number, unknown: readonly string[]): string {
  const plans =
    planned === 0
      ? 'Every declared screen is registered by a build.'
      : `${planned} declared ${planned === 1 ? 'screen is a plan' : 'screens are plans'} until a build's manifest names ${planned === 1 ? 'it' : 'them'}.`;
  return unknown.length === 0 ? plans : `${plans} What unknown lists was never declared and could not be archived.`;
}

/** All of the body's screens, or none. @throws Refusal conflict when the app would have more screens than it may; StorageError. */
async function takeInScreens(storage: Storage, target: WriteTarget, body: ScreensBody, nowMs: number) {
  const { organisationId, appId, origin } = target;
  const { screens = [], archive = [] } = body;
  const done = await storage.write(organisationId, 'declareScreens', { appId, screens, archive, origin, nowMs });
  const planned = countPlanned(storage.organisation(organisationId), appId);
  return {
    planned,
    added: done.added.length,
    updated: done.updated.length,
    unchanged: done.unchanged.length,
    archived: done.archived.length,
    unknown: done.unknown,
    note: noteOn(planned, done.unknown),
  };
}

export interface WriteServices extends KnowledgeServices {
  /** Which addresses HTTP actions may have (ALLOW_PRIVATE_ADDRESSES). */
  readonly surroundings: Surroundings;
  readonly leases: Pick<Leases, 'forWrites'>;
  /** What an app may choose from. */
  readonly models: readonly ModelOffer[];
}

export interface Written {
  readonly reply: Readonly<Record<string, unknown>>;
  readonly line: string;
  /** True when no item of a batch was saved: the reply is a 422 (SETUP-30). */
  readonly savedNothing: boolean;
}

/** Waits for the links of a write that was carried out, if it has any, and returns its report. */
export type Report = () => Promise<Written>;

function changedLine(what: string, changed: readonly string[]): string {
  return changed.length === 0 ? `Saved ${what}; nothing changed.` : `Saved ${what}: ${listed(changed)}.`;
}

/** @throws Refusal invalid_appearance when one of the themes names a logo that this app does not have. */
export function requireKnownLogo(db: Connection, appId: string, body: AppearanceBody): void {
  for (const variant of ['theme', 'themeDark'] as const) {
    const logoAssetId = body[variant]?.logoAssetId;
    if (logoAssetId === undefined || readAsset(db, appId, logoAssetId) !== undefined) continue;
    const path = `${variant}.logoAssetId`;
    const message = 'names no logo of this app: leave it out to keep the uploaded one, or send the image to POST /logo';
    throw new Refusal('invalid_appearance', `${path} ${message}`, { details: [{ path, message }] });
  }
}

/** @throws Refusal invalid_experience when a model is named that the operator does not list. */
export function requireListedModels(models: readonly ModelOffer[], { model }: ExperiencePatch): void {
  const unlisted = model === undefined ? [] : unlistedIn(model, models);
  if (unlisted.length === 0) return;
  const message = `must be one of ${models.map(({ name }) => name).join(', ')}`;
  const details = unlisted.map(({ path }) => ({ path: `model.${path}`, message }));
  throw new Refusal('invalid_experience', `${details[0]?.path} ${message}`, { details });
}

type AppearanceWrite = Extract<SetupWrite, { kind: 'appearance' }>;

async function writeAppearance(services: WriteServices, target: WriteTarget, { body, logo }: AppearanceWrite): Promise<Written> {
  const { storage, nowMs } = services;
  const { organisationId, appId, origin } = target;
  requireKnownLogo(storage.organisation(organisationId), appId, body);
  const { draft, changed } = await storage.write(organisationId, 'saveAppearanceDraft', { appId, body, origin, nowMs: nowMs() });
  const reply = { saved: true, changed, draft, warnings: contrastWarnings(draft) };
  const line = changedLine('the appearance draft', changed);
  if (logo === undefined) return { reply, line, savedNothing: false };
  const shown = await writeLogo(services, target, logo);
  return { reply: { ...reply, ...shown.reply }, line: `${line} ${shown.line}`, savedNothing: false };
}

async function writeLogo({ storage, nowMs }: WriteServices, target: WriteTarget, content: string): Promise<Written> {
  const { draft, logoAssetId, changed } = await takeInLogo(storage, target, Buffer.from(content, 'base64'), nowMs());
  const line = changed ? 'Stored the logo and set it in the draft.' : 'The logo is the one the draft shows already.';
  return { reply: { saved: true, draft, logoAssetId }, line, savedNothing: false };
}

async function writeExperience({ storage, nowMs, models }: WriteServices, target: WriteTarget, patch: ExperiencePatch): Promise<Written> {
  requireListedModels(models, patch);
  const { organisationId, appId, origin } = target;
  const saved = await storage.write(organisationId, 'saveExperienceDraft', { appId, patch, origin, nowMs: nowMs() });
  return { reply: { saved: true, ...saved }, line: changedLine('the persona draft', saved.changed), savedNothing: false };
}

async function writeKnowledge(services: WriteServices, target: WriteTarget, items: readonly KnowledgeItemShape[]): Promise<Report> {
  const saved = await saveKnowledge(services, target, items);
  return async () => {
    const report = await saved();
    const { created, updated, unchanged, archived, failed } = report;
    return {
      reply: { ...report },
      line: `Knowledge: ${tally({ created, updated, unchanged, archived, failed })}.`,
      savedNothing: failed === items.length,
    };
  };
}

async function writeActions(
  { storage, nowMs, surroundings }: WriteServices,
  target: WriteTarget,
  items: readonly HttpActionShape[],
): Promise<Written> {
  const report = await takeInActions(storage, target, items, nowMs(), surroundings);
  const ops = report.results.map((result) => (result.ok ? result.op : 'failed'));
  const counts = Object.fromEntries([...new Set(ops)].map((op) => [op, ops.filter((each) => each === op).length]));
  return { reply: { ...report }, line: `Actions: ${tally(counts)}.`, savedNothing: report.failed === items.length };
}

async function writeScreens({ storage, nowMs }: WriteServices, target: WriteTarget, body: ScreensBody): Promise<Written> {
  const report = await takeInScreens(storage, target, body, nowMs());
  const { added, updated, unchanged, archived } = report;
  return { reply: { ...report }, line: `Screens: ${tally({ added, updated, unchanged, archived })}.`, savedNothing: false };
}

function writeAtOnce(services: WriteServices, target: WriteTarget, write: Exclude<SetupWrite, { kind: 'knowledge' }>): Promise<Written> {
  switch (write.kind) {
    case 'appearance':
      return writeAppearance(services, target, write);
    case 'logo':
      return writeLogo(services, target, write.content);
    case 'experience':
      return writeExperience(services, target, write.patch);
    case 'actions':
      return writeActions(services, target, write.items);
    case 'screens':
      return writeScreens(services, target, write.body);
  }
}

/** Carries a write out, within `inWriteOrder`. @throws as applyWrite. */
export async function carryOut(services: WriteServices, target: WriteTarget, write: SetupWrite): Promise<Report> {
  if (write.kind === 'knowledge') return writeKnowledge(services, target, write.items);
  const written = await writeAtOnce(services, target, write);
  return async () => written;
}

/** Waiting for links delays no other write. @throws Refusal of the write's rules, or rate_limited; StorageError: sending again is safe. */
export async function applyWrite(services: WriteServices, target: WriteTarget, write: SetupWrite): Promise<Written> {
  const lease = services.leases.forWrites(target.organisationId, target.appId);
  const report = await inWriteOrder(target.appId, () => carryOut(services, target, write), lease);
  return report();
}
