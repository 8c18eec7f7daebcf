/** The chat of the Test page: the real SDK against this service with a test key, drawn in a place of the page. */
import { h, render } from 'preact';
import { WEB_SDK_NAME } from '../../../protocol/runtime/web-sdk.ts';
import { createAssistant } from '../../client/assistant.ts';
import { everywhere } from '../../client/platform/everywhere.ts';
import type { Fetch } from '../../client/surroundings.ts';
import { appearanceOf, logoOf } from '../../sdk/appearance.ts';
import { asksOf } from '../../sdk/asks.ts';
import { BLOCK_VIEWS } from '../../sdk/blocks/views.ts';
import { widgetSheets } from '../../sdk/look/sheets.ts';
import { sceneOf } from '../../sdk/scene.ts';
import { Frame } from '../../sdk/shell/frame.tsx';
import { chosenTheme } from '../shell/theme.ts';

const nothing = () => undefined;

/** This page is no build of the app: it registers nothing, and its turns name the manifest of the latest build, by `hash`. */
function withoutManifest(hash: string | undefined): Fetch {
  return (address, request) => {
    if (new URL(address).pathname !== '/v1/apps/manifest') return fetch(address, request);
    return Promise.resolve(new Response(JSON.stringify(hash === undefined ? {} : { manifest_hash: hash }), { status: 200 }));
  };
}

export function startChat(host: HTMLElement, key: string, manifestHash: string | undefined, onTurn: (turnId: string) => void) {
  const locale = 'en-GB';
  const assistant = createAssistant(
    { address: location.origin, key, sdk: WEB_SDK_NAME, platform: 'web', abilities: { components: Object.keys(BLOCK_VIEWS), locale } },
    everywhere({ fetch: withoutManifest(manifestHash) }),
  );
  const scene = sceneOf(
    assistant,
    asksOf(assistant, new Map(), nothing, nothing),
    { locale, open: true },
    {
      appearance: () => appearanceOf(assistant.app.get().context.configuration?.config),
      draftName: `console.trial.${key}`,
      isInline: true,
      hasLauncher: false,
      logo: () => logoOf(location.origin, key),
      open: nothing,
      close: nothing,
    },
  );
  host.setAttribute('inline', '');
  host.dataset.scheme = chosenTheme.get().context.theme;
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = widgetSheets();
  const draw = () => {
    for (const [name, value] of Object.entries(scene.appearance().properties)) host.style.setProperty(name, value);
    render(h(Frame, { scene }), root);
  };
  draw();
  const known = new Set<string>();
  const look = () => {
    for (const { turnId, phase } of assistant.conversation.store.get().context.turns) {
      if (known.has(turnId) || phase === 'waiting' || phase === 'preparing') continue;
      known.add(turnId);
      onTurn(turnId);
    }
  };
  let turns = assistant.conversation.store.subscribe(look);
  const endings = [
    assistant.app.subscribe(draw),
    {
      unsubscribe: assistant.onConversation((conversation) => {
        turns.unsubscribe();
        turns = conversation.store.subscribe(look);
      }),
    },
  ];
  return {
    end() {
      turns.unsubscribe();
      for (const ending of endings) ending.unsubscribe();
      render(null, root);
      void assistant.close();
    },
  };
}
