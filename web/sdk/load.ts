/** Loads the script of the service into a page that has a build of its own (WIDGET-12, WIDGET-51): for React, and for pages without it. */
import type { Assistant as Client } from '../client/assistant.ts';
import type { ComponentName, OwnDrawing } from './blocks/shown-block.ts';
import type { ScreenHandler, WidgetChanges, WidgetEvent, WidgetOptions } from './options.ts';

/** What the script puts on the page, as far as it is used here. */
export interface WidgetScript extends Pick<Client, 'registerAction' | 'identify' | 'signOut' | 'setUserToken'> {
  init(options: WidgetOptions): unknown;
  registerScreen(definition: Parameters<Client['registerScreen']>[0], open: ScreenHandler): () => void;
  onEvent(listener: (event: WidgetEvent) => void): () => void;
  update(changes: WidgetChanges): void;
  open(): void;
  close(): void;
  ask(text: string): void;
  prefill(text: string): void;
  attach(files: Iterable<File>, question?: string): Promise<boolean>;
  conversations(before?: string): ReturnType<Client['list']>;
  openConversation(id?: string): void;
  deleteConversation(id: string): Promise<void>;
  registerComponent(type: ComponentName, drawing: OwnDrawing | string): () => void;
  destroy(): Promise<void>;
}

/** Which script is loaded, and how the page lets it. */
export interface Release {
  /** The release to load, with its hash as `integrity`; the newest one unless said otherwise. */
  readonly version?: string | undefined;
  readonly integrity?: string | undefined;
  /** The nonce of the page's policy, for the script. */
  readonly nonce?: string | undefined;
}

const loading = new Map<string, Promise<WidgetScript>>();

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: typeof scriptAt }): { createScriptURL: typeof scriptAt };
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined;

/** The address of a script of the service at `base`. @throws TypeError of any other */
function scriptAt(given: string, base: string): string {
  try {
    const [folder, { href, protocol }] = [new URL(`${base}/sdk/web/`), new URL(given)];
    if (/^https?:$/.test(protocol) && folder.pathname.endsWith('/sdk/web/') && href.startsWith(folder.href)) return href;
  } catch {
    // It is no address.
  }
  throw new TypeError(`Assistant: address must be the origin of the service, and version one of its releases: ${given} came.`);
}

/** The address as a page that demands Trusted Types takes it; as it is where there are none, or the page does not name the policy. */
function trusted(given: string, base: string): string {
  const src = scriptAt(given, base);
  try {
    policy ??= (globalThis as unknown as { trustedTypes: TrustedTypes }).trustedTypes.createPolicy('assistant-widget', {
      createScriptURL: scriptAt,
    });
    return policy.createScriptURL(src, base);
  } catch {
    return src;
  }
}

/**
 * The stub of this release, or its script where its hash is given; asked for once, and again after it could not be had. Rejects with a
 * TypeError where the address is none of the service's, and with an Error where nothing can be loaded.
 */
export async function loadScript(address: string, { version = 'latest', integrity, nonce }: Release): Promise<WidgetScript> {
  const base = String(address).replace(/\/$/, '');
  const src = `${base}/sdk/web/${version}/${integrity === undefined ? 'stub' : 'assistant'}.js`;
  const known = loading.get(src);
  if (known !== undefined) return known;
  const loaded = new Promise<WidgetScript>((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), { src: trusted(src, base), async: true, crossOrigin: 'anonymous' });
    // A page may forbid a second policy of this name: the stub loads the script by this one.
    Object.assign(script, { policy });
    if (integrity !== undefined) script.integrity = integrity;
    if (nonce !== undefined) script.nonce = nonce;
    script.addEventListener('load', () => resolve((globalThis as unknown as { Assistant: WidgetScript }).Assistant));
    script.addEventListener('error', () => {
      loading.delete(src);
      script.remove();
      reject(new Error(`${src} cannot be loaded: look at the address, the integrity and the script-src of the page`));
    });
    document.head.append(script);
  });
  loading.set(src, loaded);
  return loaded;
}
