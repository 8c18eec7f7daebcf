/** Selecting from a store in a component. The binding of @xstate/store wants an earlier Preact. */
import { useEffect, useRef, useState } from 'preact/hooks';

interface StoreOf<Context> {
  get(): { readonly context: Context };
  subscribe(next: () => void): { unsubscribe(): void };
}

/** What `select` gives of the store now; the component is drawn again when that is another value. */
export function useStore<Context, Selected>(store: StoreOf<Context>, select: (context: Context) => Selected): Selected {
  const [, redraw] = useState({});
  const selected = select(store.get().context);
  const drawn = useRef({ select, selected });
  drawn.current = { select, selected };
  useEffect(() => {
    const look = () => {
      const { select: now, selected: last } = drawn.current;
      if (!Object.is(now(store.get().context), last)) redraw({});
    };
    look();
    const subscription = store.subscribe(look);
    return () => subscription.unsubscribe();
  }, [store]);
  return selected;
}
