/** What all parts of the widget are drawn with. One object a widget, whose identity stays; `conversation` is another one from time to time. */
import type { Assistant } from '../client/assistant.ts';
import type { Appearance } from './appearance.ts';
import type { WidgetAsks } from './asks.ts';
import type { BlockSurroundings } from './blocks/block-view.ts';
import { BLOCK_WORDS } from './blocks/words.ts';
import type { LaterWords } from './later-words.ts';
import type { WidgetOptions } from './options.ts';
import { proseFor } from './prose/prose.tsx';
import { Attaching } from './state/attaching.ts';
import { createPanelStore, type PanelStore } from './state/panel.ts';
import { WIDGET_WORDS, type WidgetWords } from './words.ts';

export interface Scene {
  readonly assistant: Assistant;
  readonly panel: PanelStore;
  readonly attaching: Attaching;
  readonly words: WidgetWords & Partial<LaterWords>;
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

/** What differs by where the widget is drawn. */
type OwnOfScene = Omit<Scene, 'assistant' | 'panel' | 'attaching' | 'words' | 'around' | 'say'>;

export function sceneOf(
  assistant: Assistant,
  ask: WidgetAsks,
  { locale = 'en', words: given, open = false }: Pick<WidgetOptions, 'locale' | 'words' | 'open'>,
  own: OwnOfScene,
  partFailed: (error: unknown) => void = () => {},
): Scene {
  const words = { ...WIDGET_WORDS, ...BLOCK_WORDS, ...given };
  const panel = createPanelStore(open);
  return {
    ...{ assistant, panel, words },
    attaching: new Attaching(assistant, panel, words),
    around: { ask, words, locale, partFailed, now: () => Date.now(), Prose: proseFor({ ask, words, partFailed }) },
    say: (text) => ask.say(text),
    ...own,
  };
}

/** The same with other words, another language, or without its launcher: what is open and what waits stays. */
export function redrawn(scene: Scene, { words: given, launcher = true }: Pick<WidgetOptions, 'words' | 'launcher'>, locale: string): Scene {
  const words = { ...WIDGET_WORDS, ...BLOCK_WORDS, ...given };
  const around = { ...scene.around, words, locale };
  scene.attaching.words = words;
  return { ...scene, words, hasLauncher: launcher, around: { ...around, Prose: proseFor(around) } };
}
