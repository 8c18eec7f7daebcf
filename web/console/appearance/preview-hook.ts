/** What the service makes of a draft that is being typed: derived colours and contrast, of the newest one that it takes. */
import { useEffect, useState } from 'preact/hooks';
import { ask } from '../api/api.ts';
import { appPath } from '../app/app.ts';
import type { AppearanceDraft, ServedThemes } from '../preview/drafts-hook.ts';

export interface ContrastWarning {
  readonly check: string;
  readonly what: string;
  readonly fix?: { readonly token: string; readonly suggested: string };
}

export interface AppearancePreview {
  readonly served: ServedThemes;
  readonly warnings: readonly ContrastWarning[];
}

/** Short enough to follow a colour picker, long enough to leave out what is dragged over. */
const SETTLED_MS = 120;

/** A draft that the service does not take yet leaves the preview as it was; saving says what is wrong with it. */
export function useAppearancePreview(app: string, draft: AppearanceDraft): AppearancePreview | undefined {
  const [preview, hold] = useState<AppearancePreview>();
  const body = JSON.stringify(draft);
  useEffect(() => {
    const aborted = new AbortController();
    const timer = setTimeout(() => {
      ask<AppearancePreview>('POST', `${appPath(app)}/appearance/preview`, JSON.parse(body), aborted.signal).then(hold, () => undefined);
    }, SETTLED_MS);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  }, [app, body]);
  return preview;
}
