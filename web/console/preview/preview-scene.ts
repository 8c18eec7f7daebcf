/** The scene of a widget that is looked at and not used: drawn by the real SDK from a configuration that nobody published yet. */
import { WEB_SDK_NAME } from '../../../protocol/runtime/web-sdk.ts';
import { createAssistant } from '../../client/assistant.ts';
import { everywhere } from '../../client/platform/everywhere.ts';
import { appearanceOf } from '../../sdk/appearance.ts';
import { asksOf } from '../../sdk/asks.ts';
import { BLOCK_VIEWS } from '../../sdk/blocks/views.ts';
import { type Scene, sceneOf } from '../../sdk/scene.ts';
import { sampleService } from './sample-service.ts';

/** Has the form of a key; nothing is asked with it. */
const KEY = 'rd_pk_test_preview00';
const LOCALE = 'en';

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
  const nothing = () => undefined;
  return sceneOf(
    assistant,
    asksOf(assistant, new Map(), nothing, nothing),
    { locale: LOCALE, open: true },
    {
      appearance: () => appearanceOf(configuration()),
      draftName: 'console.preview',
      isInline: true,
      hasLauncher: true,
      logo,
      open: nothing,
      close: nothing,
    },
  );
}
