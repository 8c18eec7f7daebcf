/** The list of keys, opened by `?`. */
import { useEffect, useId, useRef } from 'preact/hooks';
import { useStore } from '../../sdk/store-hook.ts';
import { activeShortcuts, pressed, shortcutHelp, useShortcut } from './shortcuts.ts';

export function KeyboardHelp() {
  const isOpen = useStore(shortcutHelp, (context) => context.isOpen);
  useShortcut('?', 'Show the keys', () => shortcutHelp.send({ type: 'opened' }));
  useEffect(() => {
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return isOpen ? <KeyList /> : null;
}

function KeyList() {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={title} onClose={() => shortcutHelp.send({ type: 'closed' })}>
      <h2 id={title}>Keys on this page</h2>
      <dl class="keys">
        {activeShortcuts().map(({ key, what }) => (
          <div key={key + what}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
