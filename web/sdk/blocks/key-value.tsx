/** `key_value`: data of one thing. */
import type { BlockProps } from './block-view.ts';
import { CopyButton } from './parts/copy-button.tsx';

export function KeyValue({ body: { title, rows }, around }: BlockProps<'key_value'>) {
  return (
    <div class="card key-value">
      {title ? <div class="title">{title}</div> : null}
      <dl>
        {rows.map(({ label, value, tone, copyable }, at) => (
          <div key={at}>
            <dt>{label}</dt>
            <dd class={tone === undefined ? '' : `is-${tone}`}>
              <span>{value}</span>
              {copyable ? <CopyButton text={value} name={label} around={around} /> : null}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
