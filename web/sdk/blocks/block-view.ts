/** The contract between the thread and the drawings of blocks; the compiler holds their table complete. */
import type { ComponentType } from 'preact';
import type { Block } from '../../../protocol/catalog/block.ts';
import type { AnswerBlock, BodyOf, ComponentName } from '../../client/conversation/answer-blocks.ts';
import type { Call } from '../../client/conversation/calls.ts';
import type { Failure } from '../../client/transport/failure.ts';
import type { WidgetOptions } from '../options.ts';
import type { BlockWords } from './words.ts';

export type { BodyOf, ComponentName } from '../../client/conversation/answer-blocks.ts';

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

/** What surrounds all blocks of a thread. One object, whose identity stays while none of it changes. */
export interface BlockSurroundings {
  readonly ask: BlockAsks;
  readonly words: BlockWords;
  /** BCP 47: for times, numbers and prices. */
  readonly locale: string;
  readonly now: () => number;
  /** Where a picture is loaded from in the place of its own address: an app that lets pages load nothing from elsewhere has its own copy. */
  readonly picture?: (address: string) => string;
  /** What links may lead to, and whether addresses in words are some: see `WidgetOptions`. */
  readonly linkSchemes?: WidgetOptions['linkSchemes'] | undefined;
  readonly autolinks?: boolean | undefined;
  /** The app's own drawings, by component. */
  readonly places?: OwnDrawings | undefined;
  /** A part of a drawing could not be loaded. */
  readonly partFailed?: (error: unknown) => void;
  /** Draws Markdown. `isGrowing`: more of it is coming. */
  readonly Prose: ComponentType<{ readonly md: string; readonly isGrowing?: boolean }>;
}

export interface BlockState {
  /** As the client keeps it: announced, ready or unfinished. A block of the history is a `ready` one. */
  readonly block: AnswerBlock;
  /** An answer of the person's to this block that is on its way, or was not taken. */
  readonly answer?: BlockAnswer | undefined;
  /** The call that a confirmation card stands for, as the client keeps it. */
  readonly call?: Call | undefined;
  /** The answer it belongs to is the newest one: follow-ups of earlier ones are over. */
  readonly isNewest: boolean;
  readonly around: BlockSurroundings;
}

/** What one drawing is given. The body may have been written by a stranger: its text is text, and its lists may be longer than the catalog's. */
export interface BlockProps<K extends ComponentName> {
  readonly block: Block;
  readonly body: BodyOf<K>;
  readonly answer: BlockAnswer | undefined;
  readonly call: Call | undefined;
  readonly isNewest: boolean;
  readonly around: BlockSurroundings;
}

export type BlockView<K extends ComponentName> = ComponentType<BlockProps<K>>;

export type BlockViews = { readonly [K in ComponentName]: BlockView<K> };

/** Components whose drawings are loaded when the first of them is shown. */
export type LaterComponent = Exclude<ComponentName, 'text'>;

/** What an app is given to draw, at each change of it anew. */
export interface ShownBlock<K extends ComponentName = ComponentName> extends Omit<BlockProps<K>, 'around'> {
  /** What the person wants of it. */
  readonly ask: BlockAsks;
  readonly locale: string;
}

/** Draws the block in `place`, which is the same at each change. What it returns is called at the end. What it throws has the widget draw it. */
export type OwnDrawing = (place: HTMLElement, shown: ShownBlock) => unknown;

/** By component; and where the elements stand. */
export interface OwnDrawings {
  readonly host: HTMLElement;
  readonly drawings: ReadonlyMap<string, OwnDrawing>;
}
