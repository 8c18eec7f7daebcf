/** One item sent to an app's knowledge; what the service refuses of it is thrown, although the answer itself says that it was taken. */
import { ask } from '../api/api.ts';
import { ApiError } from '../api/request.ts';
import { appPath } from '../app/app.ts';

interface ItemsAnswer {
  readonly results: readonly { readonly ok: boolean; readonly error?: string }[];
}

export async function sendItem(app: string, item: Readonly<Record<string, unknown>>): Promise<void> {
  const { results } = await ask<ItemsAnswer>('POST', `${appPath(app)}/knowledge`, { items: [item] });
  const refused = results.find(({ ok }) => !ok);
  if (refused !== undefined) throw new ApiError('refused', refused.error ?? 'The source was refused.', 422);
}
