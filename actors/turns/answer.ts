/**
 * What a turn says, on its way from the model to the log: words and calls go in, blocks and events come out.
 *
 * Owns: the order of the answer (what follows the first whole block waits with it for the commit), and that no placeholder of
 * personal data is said in two pieces. Does not own: when a commit is made, and what is done beside speaking.
 */
import { type AssemblerOutput, BlockAssembler, type Repair } from '../../assistant/block-assembler.ts';
import { fetchable, type Told } from '../../assistant/fetched-addresses.ts';
import { ImitationFilter } from '../../assistant/imitation.ts';
import type { ToolCall } from '../../assistant/models/model.ts';
import { NoAnswerFilter } from '../../assistant/no-answer-mark.ts';
import { withoutMarks } from '../../assistant/privacy/number-placeholder.ts';
import { PlaceholderGate } from '../../assistant/privacy/placeholder-gate.ts';
import { rewriteStrings } from '../../assistant/privacy/placeholder-table.ts';
import { safeBlock } from '../../assistant/privacy/safe-block.ts';
import type { ChatTurnEffect } from '../../machines/chat-turn.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import type { AppSettings } from '../../protocol/console/app-settings.ts';
import { ANSWER_BLOCKS_MAX, ANSWER_TEXT_MAX_CHARS } from '../../protocol/limits.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { mint, type TurnFacts } from './facts.ts';
import type { TurnLog } from './log.ts';
import { withCitations } from './passages.ts';

/** Most clients run actions of every kind, and name none. */
const ALL_KINDS: ReadonlySet<string> = new Set();

/** What the model says is words: only a card, which the service draws, holds numbers that come back as such. */
function asSaid(block: Block): Block {
  return block.block_type === 'confirm_card' ? block : { ...block, body: rewriteStrings(block.body, withoutMarks) };
}

/** What of the answer waits for a commit: a block that is whole, or what was said of a later one. */
export type Outgoing = { readonly block: Block; readonly leftOut?: number } | { readonly event: StreamEvent; readonly speak: () => void };

export function blocksOf(items: readonly Outgoing[]): Block[] {
  const blocks: Block[] = [];
  for (const item of items) if ('block' in item) blocks.push(item.block);
  return blocks;
}

/** Blocks that are sent become ready where they stand among the rest. */
export function blockEvents(items: readonly Outgoing[], effects: readonly ChatTurnEffect[]): StreamEvent[] {
  const events: StreamEvent[] = [];
  if (items.length === 0) return events;
  const sent = new Set<string>();
  for (const effect of effects) if (effect.type === 'sendBlock') sent.add(effect.blockId);
  for (const item of items) {
    if (!('block' in item)) events.push(item.event);
    else if (sent.has(item.block.id)) events.push({ type: 'block.ready', index: item.block.index, block: item.block });
  }
  return events;
}

export function speak(items: readonly Outgoing[]): void {
  for (const item of items) if ('speak' in item) item.speak();
}

/** About how long these blocks are; what is no text is short. */
export function charsOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { body }) => sum + (typeof body.md === 'string' ? body.md.length : 0), 0);
}

const nothing = () => false;

export class TurnAnswer implements AssemblerOutput {
  readonly #turn: TurnFacts;
  readonly #log: TurnLog;
  readonly #settings: AppSettings;
  readonly #assembler: BlockAssembler;
  readonly #mark: NoAnswerFilter;
  readonly #imitation = new ImitationFilter();
  readonly #gate = new PlaceholderGate();
  #chars = 0;
  /** From the first block of a step that is whole: what waits for the commit, in the order of the answer. */
  #outbox: Outgoing[] = [];

  /** Whether a client may fetch an address of this round's blocks by itself; between rounds it may none. */
  #mayFetch: (address: string) => boolean = nothing;

  constructor(turn: TurnFacts, log: TurnLog) {
    const { command, services, toolset } = turn;
    this.#turn = turn;
    this.#log = log;
    this.#settings = command.caller.app.settings;
    this.#mark = new NoAnswerFilter((isNoAnswer) => command.listen?.noAnswer(isNoAnswer));
    this.#assembler = new BlockAssembler(
      {
        components: toolset.components,
        routes: toolset.routes,
        actionKinds: command.body.client.action_kinds.length === 0 ? ALL_KINDS : new Set(command.body.client.action_kinds),
        mintBlockId: () => mint(services, 'blk'),
      },
      this,
    );
  }

  completed(block: Block): void {
    let leftOut = 0;
    const safe = safeBlock(withCitations(this.#turn, asSaid(block)), (address) => {
      const may = this.#mayFetch(address);
      if (!may) leftOut += 1;
      return may;
    });
    this.#outbox.push(leftOut === 0 ? { block: safe } : { block: safe, leftOut });
  }

  started(index: number, id: string, blockType: string): void {
    const event: StreamEvent = { type: 'block.start', index, id, block_type: blockType };
    if (this.#outbox.length === 0) this.#log.say(event);
    else this.#outbox.push({ event, speak: () => this.#log.say(event) });
  }

  delta(index: number, id: string, text: string): void {
    if (this.#outbox.length === 0) this.#log.sayText(index, id, text);
    else this.#outbox.push({ event: { type: 'block.delta', index, text_delta: text }, speak: () => this.#log.sayText(index, id, text) });
  }

  /** Blocks announced or finished so far. */
  get count(): number {
    return this.#assembler.count;
  }

  /** The answer is as long as one may be. */
  get isFull(): boolean {
    return this.#chars >= ANSWER_TEXT_MAX_CHARS || this.#assembler.count >= ANSWER_BLOCKS_MAX;
  }

  get isWaiting(): boolean {
    return this.#outbox.length > 0;
  }

  /** What waits for a commit; from now on the caller's. */
  take(): Outgoing[] {
    const items = this.#outbox;
    this.#outbox = [];
    return items;
  }

  text(delta: string): void {
    const room = ANSWER_TEXT_MAX_CHARS - this.#chars;
    this.#chars += delta.length;
    const said = this.#imitation.push(this.#mark.push(delta.length <= room ? delta : delta.slice(0, Math.max(0, room))));
    const ready = withoutMarks(this.#gate.push(said));
    if (ready !== '') this.#assembler.text(ready);
  }

  /** What looked like the beginning of a placeholder, or of the mark, was none. */
  #letGo(): void {
    const rest = this.#gate.push(this.#imitation.push(this.#mark.flush()) + this.#imitation.flush()) + this.#gate.flush();
    if (rest !== '') this.#assembler.text(rest);
  }

  componentStarted(call: { readonly id: string; readonly name: string }): void {
    this.#letGo();
    this.#assembler.componentStarted(call);
  }

  /** Ends a round; answers the calls of components that the model has to make again. */
  finishRound(calls: readonly ToolCall[], requests: { told(): Told }): Repair[] {
    this.#letGo();
    const { allowedDomains, mediaHosts } = this.#settings;
    this.#mayFetch = fetchable(mediaHosts ?? allowedDomains, () => requests.told());
    const repairs = this.#assembler.finishRound(calls);
    this.#mayFetch = nothing;
    return repairs;
  }

  /** A block of the service's own; answers its id. */
  place(blockType: string, body: Block['body']): string {
    this.#letGo();
    return this.#assembler.place(blockType, body);
  }

  /** Ends the answer wherever it is: nothing announced stays open. `isWhole`: an answer of nothing but lines that were left out is said in their words. */
  finish(isWhole = false): void {
    this.#letGo();
    const leftOut = isWhole && this.count === 0 ? withoutMarks(this.#gate.push(this.#imitation.leftOut) + this.#gate.flush()) : '';
    if (leftOut.trim() !== '') this.#assembler.text(leftOut);
    this.#assembler.finish();
  }
}
