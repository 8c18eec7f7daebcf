/** `tags`: short labels. */
import type { BlockProps } from './block-view.ts';

export function Tags({ body: { label, items } }: BlockProps<'tags'>) {
  return (
    <div class="tags">
      {label ? <span class="label">{label}</span> : null}
      <ul class="pills">
        {items.map(({ id, label: text, tone = 'neutral' }) => (
          <li key={id} class={`tag is-${tone}`}>
            {text}
          </li>
        ))}
      </ul>
    </div>
  );
}
