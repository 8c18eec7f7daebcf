/** Both drafts of an app, each beside what was published; and the logo of the look. */
import { useCallback } from 'preact/hooks';
import type { Key } from '../../../protocol/console/answers.ts';
import type { ModelOffer } from '../../../protocol/setup/model-choice.ts';
import type { ExperienceDraft } from '../../../protocol/setup/persona.ts';
import { logoOf } from '../../sdk/appearance.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import type { ApiError } from '../api/request.ts';
import { appPath } from '../app/app.ts';

export type ThemeTokens = Readonly<Record<string, string | number>>;

export interface ServedThemes {
  readonly theme: ThemeTokens;
  readonly themeDark: ThemeTokens;
}

export interface AppearanceDraft {
  readonly theme: ThemeTokens;
  readonly themeDark?: ThemeTokens;
  readonly copilot?: Readonly<Record<string, string | boolean>>;
}

export interface DraftedAppearance extends Drafted<AppearanceDraft> {
  readonly served: ServedThemes | null;
}

interface Drafted<Draft> {
  readonly draft: Draft | null;
  readonly published: Draft | null;
  readonly published_version: number | null;
}

export interface DraftedExperience extends Drafted<ExperienceDraft> {
  /** What `model` may name. */
  readonly models: readonly ModelOffer[];
  /** What a model is told before anything was said, by the kind of key. */
  readonly instructions: { readonly sandbox: string; readonly live: string };
}

export interface Drafts {
  readonly appearance: DraftedAppearance | undefined;
  readonly experience: DraftedExperience | undefined;
  readonly error: ApiError | undefined;
  reload(): void;
}

export function useDrafts(app: string): Drafts {
  const appearance = useAsked<DraftedAppearance>(`${appPath(app)}/appearance`);
  const experience = useAsked<DraftedExperience>(`${appPath(app)}/experience`);
  return {
    appearance: appearance.answer,
    experience: experience.answer,
    error: appearance.error ?? experience.error,
    reload() {
      appearance.reload();
      experience.reload();
    },
  };
}

/** Reads the logo that a draft names. Never rejects: without one or without a test key, or while the service is away, the widget shows a letter. */
export function useLogo(app: string, logoAssetId: unknown): () => Promise<Blob | undefined> {
  // Another id is another picture.
  return useCallback(async () => {
    if (logoAssetId === undefined) return undefined;
    const { keys } = await ask<{ readonly keys: readonly Key[] }>('GET', `${appPath(app)}/keys`).catch(() => ({ keys: [] }));
    const key = keys.find(({ channel }) => channel === 'test')?.key;
    return key === undefined ? undefined : logoOf(location.origin, key);
  }, [app, logoAssetId]);
}

export function configurationOf(
  served: ServedThemes | null,
  copilot: AppearanceDraft['copilot'],
  experience: ExperienceDraft | null,
): Readonly<Record<string, unknown>> {
  const { assistantName, welcomeTitle, welcomeBody, suggestions } = experience ?? {};
  return { ...served, copilot: { ...copilot, assistantName, welcomeTitle, welcomeBody, suggestions } };
}
