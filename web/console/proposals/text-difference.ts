/** The difference of two texts, as the parts of either side. */
import { diffLines, diffWordsWithSpace } from 'diff';

export interface TextPart {
  readonly text: string;
  readonly isOwn: boolean;
}

export interface TextSides {
  readonly before: readonly TextPart[];
  readonly after: readonly TextPart[];
}

/** Texts that are compared word by word; longer ones by lines, which takes a thousandth of the time. */
const WORDS_MAX_CHARS = 12_000;
/** A person notices no pause of this length; what takes longer is shown as wholly different. */
const TIMEOUT_MS = 80;
/** What both sides have in common is cut to its ends where it is longer than this. */
const SAME_MAX_CHARS = 400;
const SAME_END_CHARS = 140;

function shortened({ text, isOwn }: TextPart): readonly TextPart[] {
  if (isOwn || text.length <= SAME_MAX_CHARS) return [{ text, isOwn }];
  const left = text.length - 2 * SAME_END_CHARS;
  return [
    { text: `${text.slice(0, SAME_END_CHARS)}\n… ${left.toLocaleString('en')} characters alike …\n${text.slice(-SAME_END_CHARS)}`, isOwn },
  ];
}

export function textSides(before: string, after: string): TextSides {
  const isLong = before.length + after.length > WORDS_MAX_CHARS;
  const bound = { timeout: TIMEOUT_MS };
  const changes = isLong ? diffLines(before, after, bound) : diffWordsWithSpace(before, after, bound);
  if (changes === undefined) return { before: [{ text: before, isOwn: true }], after: [{ text: after, isOwn: true }] };
  const side = (isLeftOut: 'added' | 'removed', isOwn: 'added' | 'removed') =>
    changes.filter((part) => !part[isLeftOut]).flatMap((part) => shortened({ text: part.value, isOwn: part[isOwn] }));
  return { before: side('added', 'removed'), after: side('removed', 'added') };
}
