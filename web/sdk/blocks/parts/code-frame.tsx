/** Code with its name and a button that copies it. The colours come when they are loaded. */
import type { BlockSurroundings } from '../block-view.ts';
import { CopyButton } from './copy-button.tsx';
import { useLazy } from './lazy-hook.ts';

const loadColours = () => import('../lazy/code-colours.tsx');

interface CodeFrameProps {
  readonly code: string;
  readonly language: string;
  readonly filename?: string | undefined;
  /** More of it is coming: colours would change with every letter. */
  readonly isGrowing?: boolean;
  readonly around: Pick<BlockSurroundings, 'ask' | 'words' | 'partFailed'>;
}

export function CodeFrame({ code, language, filename, isGrowing = false, around }: CodeFrameProps) {
  const colours = useLazy(loadColours, around);
  const name = filename || language || around.words.code;
  return (
    <div class="card code">
      <div class="head">
        <span class="code-name">{name}</span>
        {filename ? <span class="aside">{language}</span> : null}
        <CopyButton text={code} around={around} name={name} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys */}
      <pre tabIndex={0} dir="ltr">
        <code>{colours && !isGrowing ? <colours.CodeColours language={language} code={code} /> : code}</code>
      </pre>
    </div>
  );
}
