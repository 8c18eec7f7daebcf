/** Owns the state of each block of one attempt, and checks that the events about it are consistent (STREAM-8, STREAM-9). */
import type { Block } from '../../protocol/catalog/block.ts';
import { blockProblem, isSameText } from './block-fit.ts';
import type { NumberedEvent } from './events.ts';
import type { FaultKind } from './faults.ts';

interface Announced {
  readonly id: string;
  readonly blockType: string;
  readonly seq: number;
  /** Its deltas joined; text blocks only. */
  text: string;
  isReady: boolean;
}

type EventOf<Type extends NumberedEvent['type']> = Extract<NumberedEvent, { type: Type }>;
export type Report = (kind: FaultKind, seq: number, problem: string) => void;

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
