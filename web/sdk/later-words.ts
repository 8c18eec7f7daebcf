/** Words of the list of conversations, which is loaded when somebody wants it. As `words.ts`, and outside of what every page loads. */
const LATER_WORDS = {
  search: 'Search by what you asked first',
  noConversations: 'You have not asked anything yet.',
  noMatch: 'None of the newest {count} begins with that.',
  untitled: 'A file or a form',
  listFailed: 'Your conversations could not be read.',
  erase: 'Delete this conversation',
  eraseForGood: 'Delete for good',
} as const satisfies Readonly<Record<string, string>>;

export type LaterWords = { readonly [K in keyof typeof LATER_WORDS]: string };

/** Their names, for whoever checks words before this is loaded. */
export const LATER_NAMES = [
  'search',
  'noConversations',
  'noMatch',
  'untitled',
  'listFailed',
  'erase',
  'eraseForGood',
] as const satisfies readonly (keyof LaterWords)[];

/** With those that the app gives in their place. */
export function laterWords<Given extends Partial<LaterWords>>(given: Given): LaterWords & Given {
  return { ...LATER_WORDS, ...given };
}
