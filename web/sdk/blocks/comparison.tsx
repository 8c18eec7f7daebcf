/** `comparison`: things side by side, the recommended one marked. */
import type { BlockProps, BlockSurroundings, BodyOf } from './block-view.ts';
import { money } from './parts/formats.ts';
import { Icon } from './parts/icon.tsx';
import { Picture } from './parts/picture.tsx';

type Cell = BodyOf<'comparison'>['rows'][number]['values'][number];

function CellWords({ value, around: { locale, words } }: { readonly value: Cell | undefined; readonly around: BlockSurroundings }) {
  if (typeof value === 'string') return <>{value === '' ? '–' : value}</>;
  if (typeof value === 'boolean') {
    return (
      <span class={value ? 'is-yes' : 'is-no'}>
        <Icon name={value ? 'check' : 'dash'} />
        <span class="unseen">{value ? words.yes : words.no}</span>
      </span>
    );
  }
  return <>{value === undefined ? '–' : money(value, locale)}</>;
}

export function Comparison({ body: { columns, rows, recommended_id: recommended }, around }: BlockProps<'comparison'>) {
  const best = (id: string | undefined) => (id !== undefined && id === recommended ? 'is-best' : '');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys
    <article class="card comparison" tabIndex={0} aria-label={columns.map(({ name }) => name).join(', ')}>
      <table>
        <thead>
          <tr>
            <td />
            {columns.map(({ id, name, image, badge }) => (
              <th key={id} scope="col" class={best(id)}>
                <Picture around={around} image={image} class="is-column" />
                {name}
                {badge || id === recommended ? <small>{badge || around.words.recommended}</small> : null}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ label, values }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {columns.map(({ id }, at) => (
                <td key={id} class={best(id)}>
                  <CellWords value={values[at]} around={around} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </article>
  );
}
