/** Owns the state of each block of one attempt, and checks that the events about it are consistent (STREAM-8, STREAM-9). */
import * as v from 'valibot';
import type { Block } from '../../protocol/catalog/block.ts';
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import { defuseMarkdown } from '../../protocol/catalog/markdown.ts';
import { ID_MAX_CHARS } from '../../protocol/limits.ts';
import { PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { renderPath } from '../../protocol/schema/issues.ts';
import type { NumberedEvent } from '../../web/client/events.ts';
import type { FaultKind } from './faults.ts';

const envelope = v.object({
  index: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(ID_MAX_CHARS)),
  block_type: v.string(),
  revision: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  body: v.record(v.string(), v.unknown()),
  fallback_text: v.optional(v.string()),
  a11y_label: v.optional(v.string()),
});

function isTolerated(issue: v.BaseIssue<unknown>): boolean {
  if (issue.type === 'strict_object') return issue.expected === 'never';
  return issue.type === 'check' && /^must be at most [\d,]+ characters$/.test(issue.message);
}

function said(prefix: string, issue: v.BaseIssue<unknown>): string {
  const path = renderPath((issue.path ?? []).map((step) => step.key));
  return `${[prefix, path].filter((part) => part !== '').join('.')} ${issue.message}`;
}

/**
 * The first thing in a block that does not fit its component's schema (BLOCK-1, BLOCK-2); undefined when it is valid. Fields that a later
 * service adds are allowed, and so is text over its maximum length: the service counts lengths before it restores personal data.
 */
function blockProblem(block: Block): string | undefined {
  const outside = v.safeParse(envelope, block);
  if (!outside.success) return said('', outside.issues[0]);
  const component = CATALOG.get(block.block_type);
  if (component === undefined) return `${block.block_type} is no component of the catalog`;
  const inside = v.safeParse(component.body, block.body);
  const issue = inside.issues?.find((each) => !isTolerated(each));
  return issue === undefined ? undefined : said(`${block.block_type}.body`, issue);
}

/**
 * Whether the joined deltas are the text of the ready block. HTML and unsafe links are removed from the ready block only (BLOCK-12), and
 * a placeholder that stays hidden may make the two differ.
 */
function isSameText(joined: string, ready: string): boolean {
  if (joined === ready || ready.includes(PLACEHOLDER_OPENS)) return true;
  return defuseMarkdown(joined) === defuseMarkdown(ready);
}

interface Announced {
  readonly id: string;
  readonly blockType: string;
  readonly seq: number;
  /** Its deltas joined; text blocks only. */
  text: string;
  isReady: boolean;
}

type EventOf<Type extends NumberedEvent['type']> = Extract<NumberedEvent, { type: Type }>;
type Report = (kind: FaultKind, seq: number, problem: string) => void;

export class BlockChecker {
  readonly #components: ReadonlySet<string>;
  readonly #isLostSince: (seq: number) => boolean;
  readonly #report: Report;
  /** By index. Bounded by the blocks that an answer may have. */
  readonly #announced = new Map<number, Announced>();
  #nextIndex = 0;

  /** `components` are the names that the handshake listed; `text` is meant with them. `isLostSince`: whether numbers after this one are missing. */
  constructor(components: ReadonlySet<string>, isLostSince: (seq: number) => boolean, report: Report) {
    this.#components = components;
    this.#isLostSince = isLostSince;
    this.#report = report;
  }

  /** Blocks that became ready. */
  get readyCount(): number {
    let count = 0;
    for (const { isReady } of this.#announced.values()) if (isReady) count += 1;
    return count;
  }

  start({ seq, index, id, block_type: blockType }: EventOf<'block.start'>): void {
    if (index !== this.#nextIndex) this.#report('block.order', seq, `block ${index} began where block ${this.#nextIndex} was next`);
    this.#nextIndex = Math.max(this.#nextIndex, index + 1);
    this.#checkListed(seq, blockType);
    this.#announced.set(index, { id, blockType, seq, text: '', isReady: false });
  }

  delta({ seq, index, text_delta: text }: EventOf<'block.delta'>): void {
    const block = this.#announced.get(index);
    if (block === undefined) this.#report('block.unopened', seq, `a delta for block ${index}`);
    else if (block.isReady) this.#report('block.closed', seq, `a delta for block ${index}, which was ready`);
    else if (block.blockType !== 'text') this.#report('block.closed', seq, `a delta for block ${index}, which is ${block.blockType}`);
    else block.text += text;
  }

  ready({ seq, index, block }: EventOf<'block.ready'>): void {
    const problem = blockProblem(block);
    if (problem !== undefined) this.#report('block.invalid', seq, problem);
    else this.#checkListed(seq, block.block_type);
    const announced = this.#announced.get(index);
    if (announced === undefined) {
      this.#report('block.unopened', seq, `block ${index} became ready`);
      return;
    }
    if (announced.isReady) this.#report('block.closed', seq, `block ${index} became ready again`);
    announced.isReady = true;
    // What does not fit its schema may lack the parts that are compared.
    if (problem === undefined) {
      this.#checkAnnounced(seq, index, block, announced);
      this.#checkText(seq, index, block, announced);
    }
    announced.text = '';
  }

  /** Reports blocks that were announced and are not ready. Called at the end of a turn. */
  end(seq: number): void {
    for (const [index, { isReady, blockType }] of this.#announced) {
      if (!isReady) this.#report('block.unready', seq, `block ${index}, ${blockType}`);
    }
  }

  #checkListed(seq: number, blockType: string): void {
    if (blockType !== 'text' && !this.#components.has(blockType)) this.#report('block.unlisted', seq, blockType);
  }

  #checkAnnounced(seq: number, index: number, block: Block, announced: Announced): void {
    if (block.index !== index) this.#report('block.changed', seq, `the block of event index ${index} says index ${block.index}`);
    if (block.id !== announced.id) this.#report('block.changed', seq, `${announced.id} was announced, ${block.id} became ready`);
    // A component that could not be made becomes text (STREAM-9).
    if (block.block_type !== announced.blockType && block.block_type !== 'text') {
      this.#report('block.changed', seq, `${announced.blockType} was announced, ${block.block_type} became ready`);
    }
  }

  /** Text that the service wrote itself has no deltas, and no number is missing before it. */
  #checkText(seq: number, index: number, block: Block, { text, blockType, seq: startSeq }: Announced): void {
    const { md } = block.body;
    if (blockType !== 'text' || typeof md !== 'string' || isSameText(text, md)) return;
    if (text === '' && !this.#isLostSince(startSeq)) return;
    this.#report('text.differs', seq, `block ${index} had ${text.length} characters in its deltas and became ready with ${md.length}`);
  }
}
