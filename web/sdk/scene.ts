/** What all parts of the widget are drawn with. One object a widget, whose identity stays; `conversation` is another one from time to time. */
import type { Assistant } from '../client/assistant.ts';
import type { Appearance } from './appearance.ts';
import type { BlockSurroundings } from './blocks/block-view.ts';
import type { Attaching } from './state/attaching.ts';
import type { PanelStore } from './state/panel.ts';
import type { WidgetWords } from './words.ts';

export interface Scene {
  readonly assistant: Assistant;
  readonly panel: PanelStore;
  readonly attaching: Attaching;
  readonly words: WidgetWords;
  readonly around: BlockSurroundings;
  /** Under which what is being written is kept. */
  readonly draftName: string;
  readonly appearance: () => Appearance;
  readonly isInline: boolean;
  readonly hasLauncher: boolean;
  /** The app's logo; undefined when it cannot be had. Never rejects. */
  logo(): Promise<Blob | undefined>;
  /** Says something for the person. False: it is not sent, because too much waits. */
  say(text: string): boolean;
  open(): void;
  close(): void;
}
