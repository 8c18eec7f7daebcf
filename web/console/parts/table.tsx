/** Rows under headings: every list of the console that has columns. */
import type { ComponentChildren } from 'preact';

interface Column<Row> {
  readonly title: ComponentChildren;
  readonly of: (row: Row) => ComponentChildren;
  readonly look?: 'number' | ((row: Row) => string | undefined);
}

interface TableProps<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The first one names the row. */
  readonly columns: readonly Column<Row>[];
  /** `sides`: before and after, as wide as each other. */
  readonly look?: 'list' | 'sides';
  readonly isCurrent?: (row: Row) => boolean;
}

export const UNSEEN_TITLE = <span class="unseen">What can be done</span>;

export function Table<Row>({ rows, keyOf, columns, look: tableLook = 'list', isCurrent }: TableProps<Row>) {
  return (
    <table class={tableLook}>
      <thead>
        <tr>
          {columns.map(({ title, look }, at) => (
            <th key={`${at}`} scope="col" class={look === 'number' ? look : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} aria-current={isCurrent?.(row) === true ? 'true' : undefined}>
            {columns.map(({ of, look }, at) => {
              const own = typeof look === 'function' ? look(row) : look;
              return at === 0 ? (
                <th key="name" scope="row" class={own}>
                  {of(row)}
                </th>
              ) : (
                <td key={`${at}`} class={own}>
                  {of(row)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ScrollingProps {
  readonly label: string;
  readonly isCard?: boolean;
  readonly children: ComponentChildren;
}

export function Scrolling({ label, isCard = false, children }: ScrollingProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys.
    <section class={isCard ? 'card scroll-x' : 'scroll-x'} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
