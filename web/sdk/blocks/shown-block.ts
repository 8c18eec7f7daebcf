/** Blocks as an app sees them that draws some itself (WIDGET-43), and what a person may want of any. No part of a framework is in it. */
import type { Block } from '../../../protocol/catalog/block.ts';
import type { BodyOf, ComponentName } from '../../client/conversation/answer-blocks.ts';
import type { Call } from '../../client/conversation/calls.ts';
import type { Failure } from '../../client/transport/failure.ts';

export type { ComponentName } from '../../client/conversation/answer-blocks.ts';

/** The person's answer to a block, while it is on its way and when it was not taken. Undefined otherwise: the body says the rest. */
export type BlockAnswer =
  | { readonly phase: 'sending'; readonly ids?: readonly string[] }
  /** `details` of a form name fields, as `values.email`. */
  | { readonly phase: 'failed'; readonly failure: Failure };

/** Values of a form by field name, as they are sent. */
export type FormValues = Readonly<Record<string, string | number | boolean | string[]>>;

/** What a person may want of a block. One object for a whole thread, whose identity stays. None of its functions throws. */
export interface BlockAsks {
  /** Chooses ids of a block. `words`: what the person says with it, in the thread. */
  choose(block: Block, ids: readonly string[], words: string, otherText?: string): void;
  submit(block: Block, values: FormValues): void;
  rate(block: Block, value: number, comment?: string): void;
  confirm(invocationId: string, typed?: string): void;
  decline(invocationId: string): void;
  /** Changes values of a card; null takes an optional one away. */
  edit(invocationId: string, values: Readonly<Record<string, unknown>>): void;
  say(text: string): void;
  openScreen(route: string, params: Readonly<Record<string, unknown>>): void;
  /** A link (https, http, mailto, tel) is followed. True: the app has opened it itself, and the browser does not. */
  openLink(address: string): boolean;
  copy(text: string): Promise<boolean>;
}

/** What an app is given to draw, at each change of it anew. */
export interface ShownBlock<K extends ComponentName = ComponentName> {
  readonly block: Block;
  readonly body: BodyOf<K>;
  readonly answer: BlockAnswer | undefined;
  /** The call that a confirmation card stands for. */
  readonly call: Call | undefined;
  readonly isNewest: boolean;
  /** What the person wants of it. */
  readonly ask: BlockAsks;
  readonly locale: string;
}

/** Draws the block in `place`, which is the same at each change. What it returns is called at the end. What it throws has the widget draw it. */
export type OwnDrawing = (place: HTMLElement, shown: ShownBlock) => unknown;
