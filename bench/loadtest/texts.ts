/** The messages that visits send: those of a file, or built-in ones that the offline model of a demo app has an answer to. */
import { readFileSync } from 'node:fs';
import { MESSAGE_TEXT_MAX_CHARS } from '../../protocol/limits.ts';
import { fits } from '../../protocol/schema/text.ts';
import { VISIT_KINDS, type VisitKind } from './slo.ts';
import { CannotRun } from './usage.ts';

export interface Texts {
  pick(kind: VisitKind): string;
}

const QUESTIONS = [
  'How long does delivery take?',
  'How can I pay?',
  'How hot should water be for green tea?',
  'How do I descale a kettle?',
  'What is the Stone mug made of?',
  'When does the money come back?',
];
const BUILT_IN: Readonly<Partial<Record<VisitKind, readonly string[]>>> = {
  components: ['show me a timeline', 'show me a comparison', 'show me an item list', 'show me an order tracker', 'show me a choice'],
  read: ['Where is my order A-1042?', 'What is the status of order A-2077?'],
  confirm: ['Cancel order A-1042', 'Please cancel order A-2077'],
};
const LINES_MAX = 100_000;

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CannotRun(
      `--texts ${file} cannot be read (${(error as NodeJS.ErrnoException).code}): give a text file with one message a line.`,
    );
  }
}

/** Messages by the kind that their line begins with (`read: …`); '' for all kinds. @throws CannotRun */
export function sortTexts(content: string, file: string): ReadonlyMap<VisitKind | '', readonly string[]> {
  const sorted = new Map<VisitKind | '', string[]>();
  const lines = content.replace(/^\ufeff/, '').split(/\r?\n/);
  if (lines.length > LINES_MAX) throw new CannotRun(`--texts ${file} has more than ${LINES_MAX} lines: give fewer messages.`);
  for (const [at, line] of lines.entries()) {
    const kind = VISIT_KINDS.find((each) => line.startsWith(`${each}:`)) ?? '';
    const text = (kind === '' ? line : line.slice(kind.length + 1)).trim();
    if (text === '' || text.startsWith('#')) continue;
    if (!fits(text, MESSAGE_TEXT_MAX_CHARS))
      throw new CannotRun(
        `--texts ${file}: line ${at + 1} has more than ${MESSAGE_TEXT_MAX_CHARS} characters, the most that a message may have.`,
      );
    const texts = sorted.get(kind);
    if (texts === undefined) sorted.set(kind, [text]);
    else texts.push(text);
  }
  if (sorted.size === 0) throw new CannotRun(`--texts ${file} holds no message: write one a line.`);
  return sorted;
}

export function loadTexts(file: string | undefined): Texts {
  const own = file === undefined ? undefined : sortTexts(read(file), file);
  const used = new Map<VisitKind, number>();
  return {
    pick(kind) {
      const texts = own === undefined ? (BUILT_IN[kind] ?? QUESTIONS) : (own.get(kind) ?? own.get('') ?? BUILT_IN[kind] ?? QUESTIONS);
      const at = used.get(kind) ?? 0;
      used.set(kind, at + 1);
      return texts[at % texts.length] as string;
    },
  };
}
