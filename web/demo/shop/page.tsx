/** The page of the demo shop: its head, the screen that is open, and what to ask the assistant first. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { startAssistant, type WidgetModule } from './assistant.ts';
import { Cart, Orders, ProductScreen, Products } from './screens.tsx';
import type { Screen, Shop } from './shop.ts';
import { SUGGESTIONS } from './suggestions.ts';

const VIEWS = { products: Products, product: ProductScreen, cart: Cart, orders: Orders } as const satisfies Record<Screen, unknown>;

type Started = { readonly phase: 'starting' | 'missing' } | { readonly phase: 'there'; readonly widget: WidgetModule };

function useAssistant(shop: Shop): Started {
  const [started, setStarted] = useState<Started>({ phase: 'starting' });
  useEffect(() => {
    startAssistant(shop).then(
      (widget) => setStarted(widget === undefined ? { phase: 'missing' } : { phase: 'there', widget }),
      () => setStarted({ phase: 'missing' }),
    );
  }, [shop]);
  return started;
}

function Suggestions({ started }: { readonly started: Started }) {
  if (started.phase === 'missing') {
    return <p class="hint">The assistant is not here: the demo app was deleted, or the widget could not be loaded.</p>;
  }
  return (
    <section class="try" aria-label="Try the assistant">
      <p>
        <b>This shop has an assistant.</b> It reads orders, opens screens, fills the cart, and asks before it changes anything.
      </p>
      <ul>
        {SUGGESTIONS.map((text) => (
          <li key={text}>
            <button
              type="button"
              disabled={started.phase !== 'there'}
              onClick={() => started.phase === 'there' && started.widget.ask(text)}
            >
              {text}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Page({ shop }: { readonly shop: Shop }) {
  const [state, setState] = useState(shop.state);
  const heading = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const started = useAssistant(shop);
  useEffect(() => shop.subscribe(setState), [shop]);
  const { screen, productId, cart } = state;
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else heading.current?.scrollIntoView({ block: 'nearest' });
  }, [screen, productId]);
  const View = VIEWS[screen];
  const count = cart.reduce((sum, { quantity }) => sum + quantity, 0);
  const link = (to: Screen, label: string) => (
    <button type="button" {...(to === screen ? { 'aria-current': 'page' as const } : {})} onClick={() => shop.go(to)}>
      {label}
    </button>
  );
  return (
    <>
      <header>
        <button type="button" class="name" onClick={() => shop.go('products')}>
          Kettle &amp; Co.
        </button>
        <nav aria-label="Shop">
          {link('products', 'Shop')}
          {link('orders', 'Orders')}
          {link('cart', count === 0 ? 'Cart' : `Cart (${count})`)}
        </nav>
      </header>
      <main ref={heading}>
        <View shop={shop} state={state} />
      </main>
      <Suggestions started={started} />
      <footer>
        A demo: nothing here is for sale, and a reload begins anew. <a href="/demo/components">All components</a> ·{' '}
        <a href="/console">Console</a> · <a href="/docs/runtime.md">Interface</a>
      </footer>
    </>
  );
}
