/** What all parts of the widget are drawn with. One object a widget, whose identity stays; `conversation` is another one from time to time. */
import type { Assistant } from '../client/assistant.ts';
import type { Appearance } from './appearance.ts';
import type { WidgetAsks } from './asks.ts';
import type { BlockSurroundings } from './blocks/block-view.ts';
import { BLOCK_WORDS, type BlockWords } from './blocks/words.ts';
import type { Words } from './languages/language.ts';
import type { LaterWords } from './later-words.ts';
import type { WidgetOptions } from './options.ts';
import { proseFor } from './prose/prose.tsx';
import { Attaching } from './state/attaching.ts';
import type { PageValues } from './state/page-values.ts';
import { createPanelStore, type PanelStore } from './state/panel.ts';
import { WIDGET_WORDS, type WidgetWords } from './words.ts';

export interface Scene {
  readonly assistant: Assistant;
  readonly panel: PanelStore;
  readonly attaching: Attaching;
  readonly words: WidgetWords & Partial<LaterWords>;
  readonly around: BlockSurroundings;
  readonly ask: WidgetAsks;
  /** What is being written, over reloads. */
  readonly drafts?: Pick<PageValues, 'get' | 'set' | 'take'>;
  /** Under which what is being written is kept. */
  readonly draftName: string;
  readonly appearance: () => Appearance;
  readonly isInline: boolean;
  /** The panel has the whole window. */
  readonly isWhole?: () => boolean;
  readonly hasLauncher: boolean;
  /** The app's logo; undefined when it cannot be had. Never rejects. */
  logo(): Promise<Blob | undefined>;
  /** Says something for the person. False: it is not sent, because too much waits. */
  say(text: string): boolean;
  open(): void;
  close(): void;
}

/** What differs by where the widget is drawn. */
type OwnOfScene = Omit<Scene, 'assistant' | 'panel' | 'attaching' | 'words' | 'around' | 'ask' | 'say'>;

type Looks = Pick<WidgetOptions, 'words' | 'linkSchemes' | 'autolinks' | 'launcher'> & { readonly language?: Words | undefined };

/** The app's own words, before those of the language, before English. */
function wordsOf({ words, language }: Looks): Scene['words'] & BlockWords {
  return { ...WIDGET_WORDS, ...BLOCK_WORDS, ...language, ...words };
}

export function sceneOf(
  assistant: Assistant,
  ask: WidgetAsks,
  { locale = 'en', open = false, ...looks }: Looks & Pick<WidgetOptions, 'locale' | 'open'>,
  own: OwnOfScene,
  more: Pick<BlockSurroundings, 'partFailed' | 'places'> = {},
): Scene {
  const words = wordsOf(looks);
  const panel = createPanelStore(open);
  const around = { ask, words, locale, linkSchemes: looks.linkSchemes, autolinks: looks.autolinks, now: () => Date.now(), ...more };
  return {
    ...{ assistant, panel, words, ask },
    attaching: new Attaching(assistant, panel, words, (event) => ask.tell(event)),
    around: { ...around, Prose: proseFor(around) },
    say: (text) => ask.say(text),
    ...own,
  };
}

/** The same with other words, another language, other links, or without its launcher: what is open and what waits stays. */
export function redrawn(scene: Scene, looks: Looks, locale: string): Scene {
  const words = wordsOf(looks);
  const { linkSchemes, autolinks, launcher = true } = looks;
  const around = { ...scene.around, words, locale, linkSchemes, autolinks };
  scene.attaching.words = words;
  return { ...scene, words, hasLauncher: launcher, around: { ...around, Prose: proseFor(around) } };
}
