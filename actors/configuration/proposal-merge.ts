/**
 * What a write is about, and two writes of one session about the same thing made into one (PROPOSAL-6): the newer
 * one's word counts, and what only the older one said goes on with it, so that no two proposals of a session exclude each other.
 */
import canonicalize from 'canonicalize';
import type { AppearanceBody } from '../../protocol/setup/appearance.ts';
import type { SetupWrite, WriteKind } from '../../protocol/setup/writes.ts';

/** Kinds whose writes can be about the same thing: appearance and logo are one. */
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

type Look = Extract<SetupWrite, { kind: 'appearance' | 'logo' }>;

function look(body: AppearanceBody, logo: string | undefined): Look {
  return { kind: 'appearance', body, ...(logo !== undefined && { logo }) };
}

function mergedLook(older: Look, newer: Look): Look {
  const logoBefore = older.kind === 'logo' ? older.content : older.logo;
  if (newer.kind === 'logo') return older.kind === 'logo' ? newer : look(older.body, newer.content);
  // A logo that the newer one names goes before the one that was uploaded; a copilot block that is left out stays.
  const logo = newer.logo ?? (newer.body.theme.logoAssetId === undefined ? logoBefore : undefined);
  const copilot = newer.body.copilot ?? (older.kind === 'appearance' ? older.body.copilot : undefined);
  return look({ ...newer.body, ...(copilot !== undefined && { copilot }) }, logo);
}

/** Items of `older` that `newer` does not speak of, before those of `newer`; `older` itself where all of `newer` is in it. */
function after<Item>(older: readonly Item[], newer: readonly Item[], spokenOf: (item: Item) => boolean): readonly Item[] {
  const said = new Set(older.map((item) => canonicalize(item)));
  // Sent again, as after a lost answer, it stays the same write.
  if (newer.every((item) => said.has(canonicalize(item)))) return older;
  return [...older.filter((item) => !spokenOf(item)), ...newer];
}

/** Both writes in one, the newer one's word first. They are of like kinds. @throws Error for others, which is a bug. */
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
