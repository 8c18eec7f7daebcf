/** Copies a text, and says for a moment that it did. */
import { useEffect, useState } from 'preact/hooks';
import type { BlockSurroundings } from '../block-view.ts';
import { CHECK, COPY, Glyph } from './icon.tsx';

/** Long enough to be read. */
const SAID_MS = 1_600;

interface CopyButtonProps {
  readonly text: string;
  readonly around: Pick<BlockSurroundings, 'ask' | 'words'>;
  readonly name?: string;
  readonly class?: string;
  /** Shown; without it there is an icon alone. */
  readonly label?: string;
}

export function CopyButton({ text, around, name, class: className = 'quiet', label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => setCopied(await around.ask.copy(text));
  const { words } = around;
  const aria =
    label === undefined ? { 'aria-label': isCopied ? words.copied : `${words.copy}${name === undefined ? '' : `: ${name}`}` } : {};
  return (
    <button type="button" class={className} onClick={() => void copy()} {...aria}>
      <Glyph path={isCopied ? CHECK : COPY} />
      {label === undefined ? null : <span>{isCopied ? words.copied : label}</span>}
      <span class="unseen" role="status">
        {isCopied && label === undefined ? words.copied : ''}
      </span>
    </button>
  );
}
