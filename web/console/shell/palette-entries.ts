/** What the palette finds: entries by their words, and what an id leads to. */
import { ask } from '../api/api.ts';
import { ApiError } from '../api/request.ts';
import { appAddress, SECTIONS } from '../app/app.ts';
import { PAGES } from '../pages.ts';
import { wholeMomentOf } from '../parts/times.ts';
import { type AppChoice, findTrace } from '../traces/find.ts';

export interface PaletteEntry {
  readonly kind: 'page' | 'app' | 'conversation' | 'id';
  readonly label: string;
  readonly of: string;
  /** Absent: the address has to be found first. */
  readonly href?: string;
}

export interface ConversationChoice {
  readonly id: string;
  readonly title: string;
  readonly updated_at: string;
}

const SHOWN_MAX = 12;
/** Ids of the service and of requests are longer than words, have a digit and no space. */
const ID = /^(?=.*\d)[\w~-]{8,120}$/;

function pagesOf(app: AppChoice | undefined): readonly PaletteEntry[] {
  const own =
    app === undefined
      ? []
      : SECTIONS.map(({ name, label }) => ({ kind: 'page', label, of: app.name, href: appAddress(app.id, name) }) as const);
  const all = PAGES.flatMap(({ label, path }) =>
    label === undefined ? [] : [{ kind: 'page', label, of: 'Console', href: path } as const],
  );
  return [...own, ...all];
}

export function entriesOf(
  apps: readonly AppChoice[],
  app: AppChoice | undefined,
  conversations: readonly ConversationChoice[],
): readonly PaletteEntry[] {
  return [
    ...pagesOf(app),
    ...apps.map(({ id, name }) => ({ kind: 'app', label: name, of: id, href: appAddress(id) }) as const),
    ...conversations.map(({ id, title, updated_at: at }) => {
      const href = `${appAddress(app?.id ?? '', 'conversations')}/${encodeURIComponent(id)}`;
      return { kind: 'conversation', label: title || id, of: `${wholeMomentOf(at)}, ${id}`, href } as const;
    }),
  ];
}

/** The entries that have every word of `text`, those that begin with it first; and the id that it may be. */
export function foundIn(entries: readonly PaletteEntry[], text: string): readonly PaletteEntry[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter((word) => word !== '');
  const found = entries.filter(({ label, of }) => words.every((word) => `${label} ${of}`.toLowerCase().includes(word)));
  const isFirst = ({ label }: PaletteEntry) => Number(label.toLowerCase().startsWith(wanted));
  const ordered = wanted === '' ? found : found.toSorted((one, other) => isFirst(other) - isFirst(one));
  const id = text.trim();
  const asId: readonly PaletteEntry[] = ID.test(id) ? [{ kind: 'id', label: id, of: 'find what it is of' }] : [];
  return [...asId, ...ordered].slice(0, SHOWN_MAX);
}

export async function addressOf(apps: readonly AppChoice[], id: string): Promise<string | undefined> {
  if (!id.startsWith('cnv_')) return findTrace(apps, id);
  try {
    const { conversation } = await ask<{ readonly conversation: { readonly app_id: string } }>(
      'GET',
      `/conversations/${encodeURIComponent(id)}?limit=1`,
    );
    return `${appAddress(conversation.app_id, 'conversations')}/${encodeURIComponent(id)}`;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
