/** Turns what the model writes into blocks (MODEL-10, MODEL-11): owns their indices and ids, the one repair of a bad body, the fallback. */

import type { Block } from '../protocol/catalog/block.ts';
import { fallbackText, modelBody, readableWords, validateBody } from '../protocol/catalog/catalog.ts';
import type { Routes } from '../protocol/catalog/component.ts';
import { beginsAsJson } from '../protocol/catalog/text-uses.ts';
import { clipWhole } from '../protocol/placeholder.ts';
import type { Detail } from '../protocol/schema/issues.ts';
import { appended } from './growing-text.ts';
import { looseJson } from './loose-json.ts';
import type { ToolCall } from './models/model.ts';

/** A text block holds at most 8,000 characters (MODEL-10). UTF-16 units are never fewer than characters. */
const TEXT_BLOCK_HARD_CHARS = 8_000;
/** From here on a text block ends at the next paragraph, so that most splits fall where a reader expects one. */
const TEXT_BLOCK_SOFT_CHARS = 7_000;
/** The head of a table, with the line below it, before a row. */
const TABLE_HEAD = /(?:^|\n)(\|[^\n]{1,800}\n\|[ :|-]{2,800})(?=\n\|)/g;
/** More than one screen of a phone. */
const FALLBACK_MAX_CHARS = 2_000;

export interface AssemblerOutput {
  started(index: number, id: string, blockType: string): void;
  delta(index: number, id: string, text: string): void;
  completed(block: Block): void;
}

export interface AssemblerOptions {
  readonly components: ReadonlySet<string>;
  readonly routes: Routes;
  readonly actionKinds: ReadonlySet<string>;
  readonly mintBlockId: () => string;
}

export interface Repair {
  readonly call: ToolCall;
  readonly details: readonly Detail[];
}

/** The text block that is being written. */
interface OpenText {
  readonly index: number;
  readonly id: string;
  content: string;
}

interface Announced {
  /** Null while it waits to be the last block. */
  index: number | null;
  readonly id: string;
  readonly name: string;
  repaired: boolean;
  /** What the model wrote last, for the fallback. */
  attempt: unknown;
}

/** Follow-up questions close the page, whenever the model makes them (STREAM-15). */
const CLOSING_BLOCK = 'quick_replies';

const NOT_SHOWN = 'This part of the answer could not be shown.';

/** Body of a text block, by the component's own schema (BLOCK-12): without HTML, and with no links but http(s). */
function textBody(md: string): Block['body'] {
  const made = validateBody('text', { md });
  return made.ok ? made.body : { md: NOT_SHOWN };
}

/** What a body that could not be drawn says to people, so that no fact is lost (MODEL-31). */
function wordsOf(name: string, written: unknown): string {
  return clipWhole(readableWords(name, written), FALLBACK_MAX_CHARS) || NOT_SHOWN;
}

/** True when the text breaks off between the two halves of a character outside the basic plane. */
function endsInHalfPair(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}

/** The head of the table that goes on after `text`, which ends with a row of it; undefined elsewhere. */
function openTable(text: string): string | undefined {
  const paragraph = text.slice(text.lastIndexOf('\n\n') + 1);
  // What follows is a row; a table has its head and one row before it at least, so that each block has more of it.
  return /\n\|[^\n]*$/.test(paragraph) ? [...paragraph.matchAll(TABLE_HEAD)].at(-1)?.[1] : undefined;
}

/** `at`, or where the placeholder (⟦email_1⟧) begins that a cut there would go through. */
function beforePlaceholder(text: string, at: number): number {
  const opens = text.lastIndexOf('⟦', at - 1);
  const isInside = opens > 0 && text.lastIndexOf('⟧', at - 1) < opens && /^⟦[a-z]+(?:_\d+)?⟧/.test(text.slice(opens, opens + 32));
  return isInside ? opens : at;
}

function parseArguments(call: ToolCall): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: call.arguments === '' ? {} : JSON.parse(call.arguments) };
  } catch {
    return { ok: false };
  }
}

export class BlockAssembler {
  readonly #options: AssemblerOptions;
  readonly #output: AssemblerOutput;
  readonly #drawsText: boolean;
  #nextIndex = 0;
  #text: OpenText | null = null;
  /** The end of the text so far, held while the next text decides where it belongs. */
  #held = '';
  /** Announced component blocks by the id of the call that fills them. */
  readonly #announced = new Map<string, Announced>();
  /** Announced blocks whose call failed once and that wait for the model's retry. */
  #waiting: Announced[] = [];
  /** Blocks that are whole and wait for the end of the answer. */
  #closing: { readonly block: Announced; readonly body: Block['body'] }[] = [];

  constructor(options: AssemblerOptions, output: AssemblerOutput) {
    this.#options = options;
    this.#output = output;
    this.#drawsText = options.components.has('text');
  }

  /** Blocks announced or finished so far. */
  get count(): number {
    return this.#nextIndex;
  }

  text(delta: string): void {
    const current = this.#text;
    if (current !== null && this.#held === '' && current.content.length + delta.length < TEXT_BLOCK_SOFT_CHARS && !endsInHalfPair(delta)) {
      current.content = appended(current.content, delta);
      this.#output.delta(current.index, current.id, delta);
      return;
    }
    this.#textSlowly(delta);
  }

  #textSlowly(delta: string): void {
    if (!this.#drawsText) return;
    let rest = this.#held + delta;
    this.#held = '';
    while (rest !== '') {
      if (this.#text === null) {
        // White space that leads to no word makes no block.
        rest = rest.trimStart();
        if (rest === '') return;
        this.#text = { index: this.#nextIndex++, id: this.#options.mintBlockId(), content: '' };
        this.#output.started(this.#text.index, this.#text.id, 'text');
      }
      rest = this.#appendSome(this.#text, rest);
    }
  }

  /** Appends what fits the block, closes it when it is full, and returns the rest. */
  #appendSome(current: OpenText, text: string): string {
    const room = TEXT_BLOCK_HARD_CHARS - current.content.length;
    const from = Math.max(0, TEXT_BLOCK_SOFT_CHARS - current.content.length);
    const paragraph = text.indexOf('\n\n', from);
    const row = text.indexOf('\n|', from);
    const isRow = row >= 0 && row <= room && (paragraph < 0 || row < paragraph);
    const head = isRow ? openTable(current.content + text.slice(0, row)) : undefined;
    const end = head === undefined ? paragraph : row;
    let take = end >= 0 && end <= room ? end : Math.min(room, text.length);
    // Never between the halves of a surrogate pair, and never within a placeholder, which could not be restored then.
    if (take < text.length && endsInHalfPair(text.slice(0, take))) take -= 1;
    if (take < text.length) take = beforePlaceholder(text, take);
    const full = take < text.length;
    const part = text.slice(0, take);
    const kept = full ? 0 : this.#undecidedEnd(current.content.length, part);
    this.#append(current, part.slice(0, part.length - kept));
    this.#held = part.slice(part.length - kept);
    if (full) this.closeText();
    return (head ?? '') + text.slice(take);
  }

  /** How much of the end of `part` waits for what follows: half a pair, or a line break that may become a paragraph. */
  #undecidedEnd(before: number, part: string): number {
    const paragraphMayBegin = part.endsWith('\n') && before + part.length > TEXT_BLOCK_SOFT_CHARS;
    return endsInHalfPair(part) || paragraphMayBegin ? 1 : 0;
  }

  #append(current: OpenText, part: string): void {
    if (part === '') return;
    current.content = appended(current.content, part);
    this.#output.delta(current.index, current.id, part);
  }

  closeText(): void {
    const current = this.#text;
    if (current === null) return;
    // Half of a pair that ends here is no character: it is left out, or told as such where it is the whole block.
    if (!endsInHalfPair(this.#held)) this.#append(current, this.#held);
    else if (current.content === '') this.#append(current, '\ufffd');
    this.#held = '';
    this.#text = null;
    this.#output.completed({ index: current.index, id: current.id, block_type: 'text', revision: 1, body: textBody(current.content) });
  }

  /** The model began to write a component: its place is announced as soon as the name is known. */
  componentStarted(call: { readonly id: string; readonly name: string }): void {
    this.closeText();
    const again = this.#waiting.findIndex((block) => block.name === call.name);
    if (again >= 0) {
      const [block] = this.#waiting.splice(again, 1) as [Announced];
      this.#announced.set(call.id, block);
      return;
    }
    const block: Announced = { index: null, id: this.#options.mintBlockId(), name: call.name, repaired: false, attempt: null };
    this.#announced.set(call.id, block);
    if (block.name !== CLOSING_BLOCK) this.#announce(block);
  }

  #announce(block: Announced): number {
    if (block.index === null) {
      block.index = this.#nextIndex++;
      this.#output.started(block.index, block.id, block.name);
    }
    return block.index;
  }

  /** Every component call becomes its block, or a repair to ask for, or (the second time) a text block with what it would have said. */
  finishRound(calls: readonly ToolCall[]): Repair[] {
    this.closeText();
    for (const call of calls) if (!this.#announced.has(call.id)) this.componentStarted(call);
    // Blocks that waited for a retry and did not get one.
    const forgotten = this.#waiting;
    this.#waiting = [];
    const repairs: Repair[] = [];
    for (const call of calls) {
      const block = this.#announced.get(call.id) as Announced;
      this.#announced.delete(call.id);
      const details = this.#complete(block, call);
      if (details === null) continue;
      if (block.repaired) this.#fallBack(block);
      else {
        block.repaired = true;
        this.#waiting.push(block);
        repairs.push({ call, details });
      }
    }
    for (const block of forgotten) this.#fallBack(block);
    return repairs;
  }

  /** A block that the server makes itself, e.g. a confirmation card; returns its id. */
  place(blockType: string, body: Block['body']): string {
    this.closeText();
    const [index, id] = [this.#nextIndex++, this.#options.mintBlockId()];
    this.#output.started(index, id, blockType);
    this.#output.completed({ index, id, block_type: blockType, revision: 1, body, fallback_text: fallbackText(blockType, body) });
    return id;
  }

  /** Ends the answer wherever it is (stopped, failed, no rounds left): nothing announced stays open. */
  finish(): void {
    this.closeText();
    for (const block of [...this.#announced.values(), ...this.#waiting]) this.#fallBack(block);
    this.#announced.clear();
    this.#waiting = [];
    for (const { block, body } of this.#closing) this.#completeWith(block, body);
    this.#closing = [];
  }

  #complete(block: Announced, call: ToolCall): readonly Detail[] | null {
    const parsed = parseArguments(call);
    if (!parsed.ok) {
      const read = looseJson(call.arguments);
      // JSON as text, and that cut off.
      block.attempt = typeof read === 'string' && beginsAsJson(read) ? looseJson(read) : read;
      return [{ path: '', message: 'is not valid JSON' }];
    }
    block.attempt = parsed.value;
    const made = modelBody(block.name, parsed.value, {
      blockId: block.id,
      routes: this.#options.routes,
      actionKinds: this.#options.actionKinds,
    });
    if (!made.ok) return made.details;
    if (block.name === CLOSING_BLOCK) this.#closing.push({ block, body: made.body });
    else this.#completeWith(block, made.body);
    return null;
  }

  #completeWith(block: Announced, body: Block['body']): void {
    const { id, name } = block;
    const index = this.#announce(block);
    this.#output.completed({ index, id, block_type: name, revision: 1, body, fallback_text: fallbackText(name, body) });
  }

  #fallBack(block: Announced): void {
    const body = textBody(wordsOf(block.name, block.attempt));
    this.#output.completed({ index: this.#announce(block), id: block.id, block_type: 'text', revision: 1, body });
  }
}
