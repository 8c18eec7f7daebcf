/** The chat of the Test page: the real SDK against this service with a test key, drawn in a place of the page. */
import { h, render } from 'preact';
import { WEB_SDK_NAME } from '../../../protocol/runtime/web-sdk.ts';
import { type Assistant, createAssistant } from '../../client/assistant.ts';
import { everywhere } from '../../client/platform/everywhere.ts';
import type { Fetch } from '../../client/surroundings.ts';
import { appearanceOf } from '../../sdk/appearance.ts';
import { asksOf } from '../../sdk/asks.ts';
import { BLOCK_VIEWS } from '../../sdk/blocks/views.ts';
import { BLOCK_WORDS } from '../../sdk/blocks/words.ts';
import blocksCss from '../../sdk/look/blocks.css';
import tokensCss from '../../sdk/look/tokens.css';
import widgetCss from '../../sdk/look/widget.css';
import { proseFor } from '../../sdk/prose/prose.tsx';
import type { Scene } from '../../sdk/scene.ts';
import { Frame } from '../../sdk/shell/frame.tsx';
import { Attaching } from '../../sdk/state/attaching.ts';
import { createPanelStore } from '../../sdk/state/panel.ts';
import { WIDGET_WORDS } from '../../sdk/words.ts';

const NO_LOGO = () => Promise.resolve(undefined);
const nothing = () => undefined;

/**
 * This page is no build of the app: it registers nothing, so that no check takes it for one. Its turns name the manifest of the latest build, by
 * `hash`, where there is one.
 */
function withoutManifest(hash: string | undefined): Fetch {
  return (address, request) => {
    if (new URL(address).pathname !== '/v1/apps/manifest') return fetch(address, request);
    return Promise.resolve(new Response(JSON.stringify(hash === undefined ? {} : { manifest_hash: hash }), { status: 200 }));
  };
}

function sceneOf(assistant: Assistant, key: string, locale: string): Scene {
  const words = { ...WIDGET_WORDS, ...BLOCK_WORDS };
  const panel = createPanelStore(true);
  const ask = asksOf(assistant, new Map(), nothing, nothing);
  return {
    ...{ assistant, panel, words, logo: NO_LOGO },
    attaching: new Attaching(assistant, panel, words),
    around: { ask, words, locale, now: () => Date.now(), Prose: proseFor(ask) },
    appearance: () => appearanceOf(assistant.app.get().context.configuration?.config),
    draftName: `console.trial.${key}`,
    isInline: true,
    hasLauncher: false,
    say: (text) => ask.say(text),
    open: nothing,
    close: nothing,
  };
}

export interface Chat {
  /** Takes it away; answers that are under way go on at the service. */
  end(): void;
}

export function startChat(host: HTMLElement, key: string, manifestHash: string | undefined, onTurn: (turnId: string) => void): Chat {
  const locale = 'en';
  const assistant = createAssistant(
    { address: location.origin, key, sdk: WEB_SDK_NAME, platform: 'web', abilities: { components: Object.keys(BLOCK_VIEWS), locale } },
    everywhere({ fetch: withoutManifest(manifestHash) }),
  );
  const scene = sceneOf(assistant, key, locale);
  host.setAttribute('inline', '');
  host.dataset.scheme = 'auto';
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [tokensCss, blocksCss, widgetCss].map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
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
