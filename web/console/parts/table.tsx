/** Rows under headings: every list of the console that has columns. */
import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: ComponentChildren;
  readonly of: (row: Row) => ComponentChildren;
  readonly look?: 'number' | ((row: Row) => string | undefined);
}

interface TableProps<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The first one names the row. */
  readonly columns: readonly Column<Row>[];
  /** `sides`: before and after, as wide as each other. `stacks`: in a narrow window each row is a few lines, with its titles. */
  readonly look?: 'list' | 'list stacks' | 'sides';
  readonly isCurrent?: (row: Row) => boolean;
}

export const UNSEEN_TITLE = <span class="unseen">What can be done</span>;

export function TableHead<Row>({ columns }: Pick<TableProps<Row>, 'columns'>) {
  return (
    <thead>
      <tr>
        {columns.map(({ title, look }, at) => (
          <th key={`${at}`} scope="col" class={look === 'number' ? look : undefined}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface TableRowProps<Row> extends Pick<TableProps<Row>, 'columns' | 'isCurrent'> {
  readonly row: Row;
}

export function TableRow<Row>({ row, columns, isCurrent }: TableRowProps<Row>) {
  return (
    <tr aria-current={isCurrent?.(row) === true ? 'true' : undefined}>
      {columns.map(({ title, of, look }, at) => {
        const own = typeof look === 'function' ? look(row) : look;
        return at === 0 ? (
          <th key="name" scope="row" class={own}>
            {of(row)}
          </th>
        ) : (
          <td key={`${at}`} class={own} data-title={typeof title === 'string' ? title : undefined}>
            {of(row)}
          </td>
        );
      })}
    </tr>
  );
}

export function Table<Row>({ rows, keyOf, columns, look = 'list', isCurrent }: TableProps<Row>) {
  return (
    <table class={look}>
      <TableHead columns={columns} />
      <tbody>
        {rows.map((row) => (
          <TableRow key={keyOf(row)} row={row} columns={columns} {...(isCurrent !== undefined && { isCurrent })} />
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
