/** Each block of an answer with what the model sent for it, as it was kept: checked, and with placeholders for personal data. */
import { CopyButton } from '../parts/copy-button.tsx';

export interface SentBlock {
  readonly id: string;
  readonly block_type: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly fallback_text?: string;
}

function BlockSent({ block: { block_type: type, body } }: { readonly block: SentBlock }) {
  const text = JSON.stringify(body, undefined, 2);
  return (
    <details class="call">
      <summary>
        <code>{type}</code> <small>{text.length.toLocaleString('en')} characters</small>
      </summary>
      <pre class="definition">{text}</pre>
      <CopyButton text={text} label="Copy as JSON" />
    </details>
  );
}

export function BlocksSent({ blocks }: { readonly blocks: readonly SentBlock[] }) {
  if (blocks.length === 0) return null;
  return (
    <section class="blocks-sent" aria-label="What the model sent">
      <h3>What the model sent</h3>
      {blocks.map((block) => (
        <BlockSent key={block.id} block={block} />
      ))}
    </section>
  );
}
