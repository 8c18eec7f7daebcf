/** What is said in passing, for some seconds: that something was done. Never the only place of an error that needs an answer. */
import { createStore } from '@xstate/store';
import { useEffect } from 'preact/hooks';
import { useStore } from '../../sdk/store-hook.ts';

interface Toast {
  readonly id: number;
  readonly text: string;
}

interface ToastContext {
  readonly last: number;
  readonly toasts: readonly Toast[];
}

/** More at once would cover the page. */
const TOASTS_MAX = 3;
/** Long enough to read a line twice. */
const SHOWN_MS = 8_000;

const NONE: ToastContext = { last: 0, toasts: [] };

const toasts = createStore({
  context: NONE,
  on: {
    said: (now, { text }: { text: string }): ToastContext => ({
      last: now.last + 1,
      toasts: [...now.toasts, { id: now.last + 1, text }].slice(-TOASTS_MAX),
    }),
    over: (now, { id }: { id: number }): ToastContext => ({ ...now, toasts: now.toasts.filter((one) => one.id !== id) }),
  },
});

export function toast(text: string): void {
  toasts.send({ type: 'said', text });
}

export function Toasts() {
  const shown = useStore(toasts, (context) => context.toasts);
  return (
    <output class="toasts">
      {shown.map((one) => (
        <ToastLine key={one.id} {...one} />
      ))}
    </output>
  );
}

function ToastLine({ id, text }: Toast) {
  useEffect(() => {
    const timer = setTimeout(() => toasts.send({ type: 'over', id }), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return <span class="toast">{text}</span>;
}
