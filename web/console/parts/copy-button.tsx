/** What leaves the page: a text that is copied, which the button says in its own place; a file that is saved. */
import { useEffect, useState } from 'preact/hooks';
import { toast } from '../shell/toasts.tsx';

/** Long enough to be seen. */
const SAID_MS = 2_000;

interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  readonly primary?: boolean;
}

export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page without https has no clipboard, and a person may refuse it.
    return false;
  }
}

/** Whether it was copied just now, and what copies it. */
function useCopy(text: string): readonly [isCopied: boolean, copy: () => Promise<void>] {
  const [isCopied, say] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => say(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    if (await copied(text)) say(true);
    else toast('The browser does not let pages copy here: select the text and copy it by hand.');
  };
  return [isCopied, copy];
}

/** Of a version, which is a hash, so much tells it from others. */
const VERSION_CHARS = 7;

export function Version({ version }: { readonly version: string }) {
  return <code title={version}>{version.slice(0, VERSION_CHARS)}</code>;
}

/** An id, which a press copies. */
export function CopiedId({ id }: { readonly id: string }) {
  const [isCopied, copy] = useCopy(id);
  return (
    <button type="button" class="copied-id selectable" title="Copy it" onClick={() => void copy()}>
      <code>{id}</code> <span aria-live="polite">{isCopied ? 'copied' : 'copy'}</span>
    </button>
  );
}

export function CopyButton({ text, label, primary = false }: CopyButtonProps) {
  const [isCopied, copy] = useCopy(text);
  return (
    <button type="button" class={primary ? 'button primary' : 'button'} onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </button>
  );
}

export function saveFile(name: string, json: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
