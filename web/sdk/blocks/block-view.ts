/** The contract between the thread and the drawings of blocks; the compiler holds their table complete. */
import type { ComponentType } from 'preact';
import type { Block } from '../../../protocol/catalog/block.ts';
import type { AnswerBlock, BodyOf, ComponentName } from '../../client/conversation/answer-blocks.ts';
import type { Call } from '../../client/conversation/calls.ts';
import type { WidgetOptions } from '../options.ts';
import type { BlockAnswer, BlockAsks, OwnDrawing } from './shown-block.ts';
import type { BlockWords } from './words.ts';

export type { BodyOf, ComponentName } from '../../client/conversation/answer-blocks.ts';
export type { BlockAnswer, BlockAsks, FormValues, OwnDrawing } from './shown-block.ts';

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

/** By component; and where the elements stand. */
export interface OwnDrawings {
  readonly host: HTMLElement;
  readonly drawings: ReadonlyMap<string, OwnDrawing>;
}
