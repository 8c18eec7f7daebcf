/** Writes declared screens (SCREEN-1). */
import type { ScreensBody } from '../../protocol/setup/screens.ts';
import { countPlanned } from '../../storage/apps/screens.ts';
import type { Storage } from '../../storage/storage.ts';
import type { WriteTarget } from './write-queue.ts';

export interface ScreenReport {
  /** Declared screens of the app that no build in use registers yet, whenever they were declared. */
  readonly planned: number;
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly archived: number;
  /** Names to be archived that the service does not know. */
  readonly unknown: readonly string[];
  readonly note: string;
}

function noteOn(planned: number, unknown: readonly string[]): string {
  const plans =
    planned === 0
      ? 'Every declared screen is registered by a build.'
      : `${planned} declared ${planned === 1 ? 'screen is a plan' : 'screens are plans'} until a build's manifest names ${planned === 1 ? 'it' : 'them'}.`;
  return unknown.length === 0 ? plans : `${plans} What unknown lists was never declared and could not be archived.`;
}

/** All of the body's screens, or none. @throws Refusal conflict when the app would have more screens than it may; StorageError. */
export async function takeInScreens(storage: Storage, target: WriteTarget, body: ScreensBody, nowMs: number): Promise<ScreenReport> {
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
