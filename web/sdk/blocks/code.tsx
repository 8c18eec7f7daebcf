/** `code`: text to reproduce to the letter. Its colours come when they are loaded. */
import type { BlockProps } from './block-view.ts';
import { CopyButton } from './parts/copy-button.tsx';
import { useLazy } from './parts/lazy-hook.ts';

const loadColours = () => import('./lazy/code-colours.tsx');

export function Code({ body: { language, code, filename }, around }: BlockProps<'code'>) {
  const colours = useLazy(loadColours);
  return (
    <div class="card code">
      <div class="head">
        <span class="code-name">{filename || language}</span>
        {filename ? <span class="aside">{language}</span> : null}
        <CopyButton text={code} around={around} name={filename || language} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys */}
      <pre tabIndex={0} dir="ltr">
        <code>{colours === undefined ? code : <colours.CodeColours language={language} code={code} />}</code>
      </pre>
    </div>
  );
}
