/** Owns how the offline model answers from passages: it quotes their most relevant sentences and says nothing of its own. */
import { clipWhole } from '../../../protocol/placeholder.ts';
import { sentences } from '../../knowledge/sentences.ts';
import { contentStems, stemsFoundIn } from '../../knowledge/terms.ts';
import type { Passage } from '../model.ts';
import { cutWords, escapeMarkdown, plainText, quotedMarkdown } from './words.ts';

interface Unit {
  readonly passage: number;
  readonly position: number;
  readonly text: string;
  readonly isItem: boolean;
  readonly stems: readonly string[];
  score: number;
}

export interface KnowledgeAnswer {
  readonly text: string;
  /** Body of a `key_points` component; undefined when there are not two points to make. */
  readonly keyPoints: Readonly<Record<string, unknown>> | undefined;
  /** Body of a `quick_replies` component; undefined when nothing else was found to ask about. */
  readonly quickReplies: Readonly<Record<string, unknown>> | undefined;
}

/** Passages come best first; later ones only dilute the answer. */
const PASSAGES_MAX = 6;
/** Twice a chunk's maximum: a longer passage is nothing that our index made. */
const PASSAGE_SCAN_MAX_CHARS = 3_200;
const QUOTED_MIN = 2;
const QUOTED_MAX = 5;
const QUOTED_SOURCES_MAX = 3;
const SENTENCE_MAX_CHARS = 500;
/** A question of one or two words is met by one of them; a longer one needs half of its words. */
const COVERAGE_MIN = 0.5;
const POINTS_MIN = 2;
const POINTS_MAX = 5;
const REPLIES_MAX = 3;
// The catalog's bounds (BLOCK-4): key_points `text ≤200`, quick_replies `label ≤24`.
const POINT_MAX_CHARS = 200;
const LABEL_MAX_CHARS = 24;
/** A sentence worth quoting comes near the best one. */
const NEAR_BEST = 0.5;
/** What makes a point beside the answer; less has a word of the question by chance. */
const FAIR = 0.25;
/** What a place in a better passage is worth beside the words of the question: it settles ties, no more. */
const RANK_BONUS = 0.1;

const ITEM = /^\s*(?:[-*+•]|\d{1,9}[.)])\s+/;
const FENCE = /^\s*(?:`{3,}|~{3,})/;
const RULE = /^[\s|:=*_+-]+$/;

/** The passage's text as lines that belong together, in reading order: items, rows, paragraphs. Code is left out. */
function paragraphs(text: string): { text: string; isItem: boolean }[] {
  const found: { text: string; isItem: boolean }[] = [];
  let isOpen = false;
  let inCode = false;
  for (const line of text.slice(0, PASSAGE_SCAN_MAX_CHARS).split('\n')) {
    if (FENCE.test(line)) inCode = !inCode;
    const isText = !inCode && !FENCE.test(line) && !RULE.test(line) && line.trim() !== '';
    const isRow = /^\s*\|/.test(line);
    const last = found.at(-1);
    if (!isText) {
      isOpen = false;
      // The row above a table's rule names its columns and says nothing.
      if (isRow && !inCode) found.pop();
    } else if (ITEM.test(line)) {
      found.push({ text: line.replace(ITEM, ''), isItem: true });
      isOpen = true;
    } else if (isRow) {
      const cells = line.split('|').map((cell) => cell.trim());
      found.push({ text: cells.filter((cell) => cell !== '').join(' – '), isItem: true });
      isOpen = false;
    } else if (isOpen && last !== undefined) {
      last.text += ` ${line.trim()}`;
    } else {
      found.push({ text: line.replace(/^\s*(?:>\s?|#{1,6}\s+)+/, '').trim(), isItem: false });
      isOpen = true;
    }
  }
  return found.filter((paragraph) => /[\p{L}\p{N}]/u.test(paragraph.text));
}

function unitsOf(passage: Passage, index: number, asked: readonly string[]): Unit[] {
  const parts = paragraphs(passage.text).flatMap(({ text, isItem }) =>
    (isItem ? [text] : sentences(text)).map((part) => ({ part, isItem })),
  );
  return parts.map(({ part, isItem }, position) => ({
    passage: index,
    position,
    text: part,
    isItem,
    stems: stemsFoundIn(part, asked),
    score: 0,
  }));
}

/** Rarer words of the question tell more: each weighs by how few of the units have it. */
function scoreUnits(units: readonly Unit[], asked: readonly string[], aboutPassage: readonly ReadonlySet<string>[]): void {
  const weights = asked.map((word) => {
    const holders = units.filter((unit) => unit.stems.includes(word)).length;
    return Math.log(1 + units.length / (1 + holders)) + 0.2;
  });
  for (const unit of units) {
    let score = 0;
    for (const [i, word] of asked.entries()) if (unit.stems.includes(word)) score += weights[i] ?? 0;
    const headed = (aboutPassage[unit.passage]?.size ?? 0) / asked.length;
    // The first sentences below a fitting heading answer it, also when they do not repeat its words.
    if (headed > 0) score += headed * (unit.position === 0 ? 1 : 0.5 / unit.position);
    unit.score = score === 0 ? 0 : score + RANK_BONUS / (1 + unit.passage);
  }
}

/** The units to quote: the best ones of at most three sources, filled up with their neighbours to two. */
function choose(units: readonly Unit[]): Unit[] {
  const ranked = units
    .filter((unit) => unit.score > 0)
    .sort((a, b) => b.score - a.score || a.passage - b.passage || a.position - b.position);
  const best = ranked[0];
  if (best === undefined) return [];
  const chosen: Unit[] = [];
  const sources = new Set<number>();
  for (const unit of ranked) {
    if (chosen.length >= QUOTED_MAX || unit.score < best.score * NEAR_BEST) break;
    if (!sources.has(unit.passage) && sources.size >= QUOTED_SOURCES_MAX) continue;
    if (chosen.some((other) => other.text === unit.text)) continue;
    sources.add(unit.passage);
    chosen.push(unit);
  }
  if (chosen.length < QUOTED_MIN) {
    const neighbours = units.filter((unit) => unit.passage === best.passage && !chosen.includes(unit) && unit.text !== best.text);
    neighbours.sort((a, b) => Math.abs(a.position - best.position - 0.5) - Math.abs(b.position - best.position - 0.5));
    chosen.push(...neighbours.slice(0, QUOTED_MIN - chosen.length));
  }
  return chosen.sort((a, b) => a.passage - b.passage || a.position - b.position);
}

function quoteLines(units: readonly Unit[]): string {
  let md = '';
  let previous: Unit | undefined;
  for (const unit of units) {
    const quote = quotedMarkdown(unit.text);
    const words = quote.length > SENTENCE_MAX_CHARS ? escapeMarkdown(cutWords(plainText(unit.text), SENTENCE_MAX_CHARS)) : quote;
    if (unit.isItem) md += previous === undefined || previous.isItem ? `\n> - ${words}` : `\n>\n> - ${words}`;
    else md += previous === undefined ? `\n> ${words}` : previous.isItem ? `\n>\n> ${words}` : ` ${words}`;
    previous = unit;
  }
  return md.slice(1);
}

function titleOf(passage: Passage): string {
  const title = plainText(passage.title);
  return title === '' ? passage.externalKey : title;
}

function quoteText(chosen: readonly Unit[], passages: readonly Passage[]): string {
  const bySource = new Map<string, { title: string; units: Unit[] }>();
  for (const unit of chosen) {
    const passage = passages[unit.passage];
    if (passage === undefined) continue;
    const entry = bySource.get(passage.sourceId) ?? { title: titleOf(passage), units: [] };
    entry.units.push(unit);
    bySource.set(passage.sourceId, entry);
  }
  const parts: string[] = [];
  for (const { title, units } of bySource.values()) {
    const name = `**${escapeMarkdown(title)}**`;
    parts.push(`${parts.length === 0 ? `This is what ${name} says:` : `${name} adds:`}\n\n${quoteLines(units)}`);
  }
  return parts.join('\n\n');
}

/** What else the passages say on the question; filled up with what was quoted, so that a short document has points as well. */
function keyPointsOf(units: readonly Unit[], chosen: readonly Unit[], passages: readonly Passage[]): KnowledgeAnswer['keyPoints'] {
  const lead = passages[chosen[0]?.passage ?? 0];
  if (lead === undefined) return undefined;
  const least = Math.max(...units.map(({ score }) => score)) * FAIR;
  const others = units.filter((unit) => unit.score > least && !chosen.includes(unit)).sort((a, b) => b.score - a.score);
  const points: { text: string; sources: string[] }[] = [];
  const add = (unit: Unit) => {
    const text = cutWords(plainText(unit.text), POINT_MAX_CHARS);
    if (text === '' || points.some((point) => point.text === text)) return;
    points.push({ text, sources: [passages[unit.passage]?.externalKey ?? lead.externalKey] });
  };
  for (const unit of others) if (points.length < POINTS_MAX) add(unit);
  for (const unit of chosen) if (points.length < POINTS_MIN) add(unit);
  // The words before it have said whose they are: no title says it once more.
  return points.length < POINTS_MIN ? undefined : { points };
}

/** What one could ask next: the headings and titles of the passages that were not quoted. */
function quickRepliesOf(chosen: readonly Unit[], passages: readonly Passage[], question: string): KnowledgeAnswer['quickReplies'] {
  const quoted = new Set(chosen.map((unit) => unit.passage));
  const said = new Set([question.trim().toLowerCase()]);
  for (const index of quoted) {
    const passage = passages[index];
    if (passage !== undefined) for (const name of [passage.title, passage.headings.at(-1) ?? '']) said.add(plainText(name).toLowerCase());
  }
  const labels: string[] = [];
  for (const [index, passage] of passages.entries()) {
    if (quoted.has(index)) continue;
    const names = [passage.headings.at(-1) ?? '', passage.title]
      .map(plainText)
      .filter((name) => name !== '' && !said.has(name.toLowerCase()));
    const name = names.find((each) => each.length <= LABEL_MAX_CHARS) ?? names[0];
    if (name === undefined || labels.length >= REPLIES_MAX) continue;
    said.add(name.toLowerCase());
    const label = cutWords(name, LABEL_MAX_CHARS);
    if (!labels.includes(label)) labels.push(label);
  }
  return labels.length === 0
    ? undefined
    : { replies: labels.map((label, index) => ({ id: `ask_${index + 1}`, label: clipWhole(label, LABEL_MAX_CHARS) })) };
}

/** In the sentences of `passages` (best first); undefined when too few words of the question occur in them. */
export function answerFromPassages(question: string, passages: readonly Passage[]): KnowledgeAnswer | undefined {
  const asked = contentStems(question);
  if (asked.length === 0) return undefined;
  const considered = passages.slice(0, PASSAGES_MAX);
  const about = considered.map((passage) => new Set(stemsFoundIn([passage.title, ...passage.headings].join(' '), asked)));
  const units = considered.flatMap((passage, index) => {
    const own = unitsOf(passage, index, asked);
    const headed = about[index]?.size ?? 0;
    const met = asked.filter((word) => about[index]?.has(word) || own.some((unit) => unit.stems.includes(word))).length;
    // A title or heading with a word of the question says more than the same word somewhere in the text.
    return met / asked.length >= COVERAGE_MIN || headed > 0 ? own : [];
  });
  scoreUnits(units, asked, about);
  const chosen = choose(units);
  if (chosen.length === 0) return undefined;
  return {
    text: quoteText(chosen, considered),
    keyPoints: keyPointsOf(units, chosen, considered),
    quickReplies: quickRepliesOf(chosen, considered, question),
  };
}
