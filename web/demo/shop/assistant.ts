/** The assistant of the demo shop: the widget as any app embeds it, from the service that serves the page. */
import type { Shop, ShopState } from './shop.ts';
import { SCREENS, totalCents } from './shop.ts';
import { ROUTES, tasksOf } from './tasks.ts';

export interface WidgetModule {
  init(options: {
    readonly key: string;
    readonly address: string;
    readonly open?: boolean;
    readonly context?: () => { readonly app_state: object; readonly current_screen: { readonly name: string } };
  }): unknown;
  ask(text: string): void;
  registerAction(definition: object, run: (params: Readonly<Record<string, unknown>>) => unknown): () => void;
  registerScreen(definition: object, open: (params: Readonly<Record<string, unknown>>) => void): () => void;
}

const SDK = '/sdk/web/latest/assistant.mjs';
const ROOMY = '(min-width: 1000px)';

function contextOf({ screen, productId, cart, orders }: ShopState) {
  return {
    app_state: { cart, cart_total_eur: totalCents(cart) / 100, orders: orders.map(({ id, status }) => ({ id, status })) },
    current_screen: { name: screen, ...(screen === 'product' ? { params: { id: productId } } : {}) },
  };
}

/** The key of the demo app; undefined once somebody has deleted it. @throws Error without the service */
async function keyOfDemo(): Promise<string | undefined> {
  const answer = await fetch('/demo/app.json');
  const { key } = (await answer.json()) as { readonly key?: string };
  return key;
}

export async function startAssistant(shop: Shop): Promise<WidgetModule | undefined> {
  const [key, sdk] = await Promise.all([keyOfDemo(), import(SDK) as Promise<WidgetModule>]);
  if (key === undefined) return undefined;
  sdk.init({ key, address: location.origin, open: matchMedia(ROOMY).matches, context: () => contextOf(shop.state) });
  for (const { definition, run } of tasksOf(shop)) sdk.registerAction(definition, (params) => run(params, Date.now()));
  for (const route of ROUTES) {
    sdk.registerScreen(route, ({ id }) => {
      const screen = SCREENS.find((name) => name === route.name);
      if (screen !== undefined) shop.go(screen, typeof id === 'string' ? id : undefined);
    });
  }
  return sdk;
}
