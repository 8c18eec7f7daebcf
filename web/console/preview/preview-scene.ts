/** The scene of a widget that is looked at and not used: drawn by the real SDK from a configuration that nobody published yet. */
import { WEB_SDK_NAME } from '../../../protocol/runtime/web-sdk.ts';
import { createAssistant } from '../../client/assistant.ts';
import { everywhere } from '../../client/platform/everywhere.ts';
import { appearanceOf } from '../../sdk/appearance.ts';
import { asksOf } from '../../sdk/asks.ts';
import { BLOCK_VIEWS } from '../../sdk/blocks/views.ts';
import { BLOCK_WORDS } from '../../sdk/blocks/words.ts';
import { proseFor } from '../../sdk/prose/prose.tsx';
import type { Scene } from '../../sdk/scene.ts';
import { Attaching } from '../../sdk/state/attaching.ts';
import { createPanelStore } from '../../sdk/state/panel.ts';
import { WIDGET_WORDS } from '../../sdk/words.ts';
import { sampleService } from './sample-service.ts';

/** Has the form of a key; nothing is asked with it. */
const KEY = 'rd_pk_test_preview00';
const LOCALE = 'en';

/** `configuration` and `logo` give what is looked at now. */
export function previewScene(configuration: () => object, logo: () => Promise<Blob | undefined>): Scene {
  const assistant = createAssistant(
    {
      address: 'https://preview.invalid',
      key: KEY,
      sdk: WEB_SDK_NAME,
      resumes: false,
      abilities: { components: Object.keys(BLOCK_VIEWS), locale: LOCALE },
    },
    everywhere({ fetch: sampleService(configuration) }),
  );
  const words = { ...WIDGET_WORDS, ...BLOCK_WORDS };
  const panel = createPanelStore(true);
  const nothing = () => undefined;
  const ask = asksOf(assistant, new Map(), nothing, nothing);
  return {
    ...{ assistant, panel, words, logo },
    attaching: new Attaching(assistant, panel, words),
    around: { ask, words, locale: LOCALE, now: () => Date.now(), Prose: proseFor(ask) },
    appearance: () => appearanceOf(configuration()),
    draftName: 'console.preview',
    isInline: true,
    hasLauncher: true,
    say: (text) => ask.say(text),
    open: nothing,
    close: nothing,
  };
}
