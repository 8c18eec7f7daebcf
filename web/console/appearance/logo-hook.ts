/** The picture of an app's draft logo, as a test key is served it. */
import { useCallback } from 'preact/hooks';
import { ask } from '../api/api.ts';
import { appPath } from '../app/app.ts';

interface Keys {
  readonly keys: readonly { readonly key: string; readonly channel: string }[];
}

/** Never rejects: without a test key, or while the service is away, the widget shows a letter. */
export function useLogo(app: string, logoAssetId: string | undefined): () => Promise<Blob | undefined> {
  // Another id is another picture.
  return useCallback(async () => {
    if (logoAssetId === undefined) return undefined;
    try {
      const { keys } = await ask<Keys>('GET', `${appPath(app)}/keys`);
      const key = keys.find(({ channel }) => channel === 'test')?.key;
      if (key === undefined) return undefined;
      const answer = await fetch('/v1/apps/logo', { headers: { 'X-Service-Key': key } });
      return answer.ok ? await answer.blob() : undefined;
    } catch {
      return undefined;
    }
  }, [app, logoAssetId]);
}
