/** The widget for an app with a build of its own and without React (WIDGET-51): loads the script of the service and starts it, with types. */
import { loadScript, type Release, type WidgetScript } from '../sdk/load.ts';
import type { WidgetOptions } from '../sdk/options.ts';

export type { WidgetScript } from '../sdk/load.ts';
export type { WidgetEvent, WidgetOptions, WidgetTheme } from '../sdk/options.ts';

export interface InitOptions extends WidgetOptions, Release {
  /** Origin of the service: `https://assistant.example`. */
  readonly address: string;
}

/**
 * Starts the widget, and comes to what registers, opens and signs in, as `Assistant` on a page does. Call it in the browser, once; a second
 * call puts another widget in the place of the first.
 * @throws TypeError that names the option that is wrong; an Error where the script cannot be loaded
 */
export async function init({ version, integrity, nonce, ...options }: InitOptions): Promise<WidgetScript> {
  const script = await loadScript(options.address, { version, integrity, nonce });
  script.init(options);
  return script;
}
