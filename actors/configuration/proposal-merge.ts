/** How two writes of one session about the same subjects become one (PROPOSAL-6): the newer counts, the older's rest is kept. */
import canonicalize from 'canonicalize';
import type { AppearanceBody } from '../../protocol/setup/appearance.ts';
import type { SetupWrite, WriteKind } from '../../protocol/setup/writes.ts';

type Batch = Extract<SetupWrite, { kind: 'knowledge' | 'actions' }>;

/** Kinds whose writes can be about the same subject: appearance and logo go together. */
export function kindsLike(kind: WriteKind): readonly WriteKind[] {
  return kind === 'appearance' || kind === 'logo' ? ['appearance', 'logo'] : [kind];
}

/** What the write is about, within its kind: keys of items, names of screens, fields of the persona. */
export function subjectsOf(write: SetupWrite): string[] {
  switch (write.kind) {
    case 'appearance':
    case 'logo':
      return ['look'];
    case 'experience':
      return Object.keys(write.patch).filter((field) => field !== 'reason');
    case 'knowledge':
    case 'actions':
      return [...new Set(write.items.map(({ external_key }) => external_key))];
    case 'screens':
      return [...new Set([...(write.body.screens ?? []), ...(write.body.archive ?? [])].map(({ name }) => name))];
  }
}

export function keepItems(write: Batch, isKept: (at: number) => boolean): Batch {
  const accepts = (_: unknown, at: number) => isKept(at);
  return write.kind === 'knowledge' ? { ...write, items: write.items.filter(accepts) } : { ...write, items: write.items.filter(accepts) };
}

type Look = Extract<SetupWrite, { kind: 'appearance' | 'logo' }>;

function look(body: AppearanceBody, logo: string | undefined): Look {
  return { kind: 'appearance', body, ...(logo !== undefined && { logo }) };
}

function mergedLook(older: Look, newer: Look): Look {
  const logoBefore = older.kind === 'logo' ? older.content : older.logo;
  if (newer.kind === 'logo') return older.kind === 'logo' ? newer : look(older.body, newer.content);
  // A logo that the newer write names wins over an uploaded one. A copilot block that it leaves out stays.
  const logo = newer.logo ?? (newer.body.theme.logoAssetId === undefined ? logoBefore : undefined);
  const copilot = newer.body.copilot ?? (older.kind === 'appearance' ? older.body.copilot : undefined);
  return look({ ...newer.body, ...(copilot !== undefined && { copilot }) }, logo);
}

/** The items of `older` that `newer` does not mention, then those of `newer`. `older` itself if it holds all of `newer`. */
function after<Item>(older: readonly Item[], newer: readonly Item[], spokenOf: (item: Item) => boolean): readonly Item[] {
  const said = new Set(older.map((item) => canonicalize(item)));
  // The same items sent again, as after a lost answer, do not make another write.
  if (newer.every((item) => said.has(canonicalize(item)))) return older;
  return [...older.filter((item) => !spokenOf(item)), ...newer];
}

/** Both writes in one; `newer` wins. @throws Error when their kinds are not alike, which is a bug. */
export function mergeWrites(older: SetupWrite, newer: SetupWrite): SetupWrite {
  const subjects = new Set(subjectsOf(newer));
  const isSpokenOf = ({ external_key: key }: { readonly external_key: string }) => subjects.has(key);
  const isNamed = ({ name }: { readonly name: string }) => subjects.has(name);
  if (older.kind === 'knowledge' && newer.kind === 'knowledge') return { ...newer, items: after(older.items, newer.items, isSpokenOf) };
  if (older.kind === 'actions' && newer.kind === 'actions') return { ...newer, items: after(older.items, newer.items, isSpokenOf) };
  if (older.kind === 'experience' && newer.kind === 'experience') return { ...newer, patch: { ...older.patch, ...newer.patch } };
  if (older.kind === 'screens' && newer.kind === 'screens') {
    const screens = after(older.body.screens ?? [], newer.body.screens ?? [], isNamed);
    const archive = after(older.body.archive ?? [], newer.body.archive ?? [], isNamed);
    return { ...newer, body: { screens: [...screens], archive: [...archive] } };
  }
  const isLook = (write: SetupWrite): write is Look => write.kind === 'appearance' || write.kind === 'logo';
  if (isLook(older) && isLook(newer)) return mergedLook(older, newer);
  throw new Error(`a proposal of kind ${older.kind} cannot be merged with one of kind ${newer.kind}`);
}
