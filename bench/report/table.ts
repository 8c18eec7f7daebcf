/** A table as values, the figures in its cells, and how it reads in Markdown. Pure. */

export interface Table {
  /** What its rows have in common, where a section has several. */
  readonly title?: string;
  readonly columns: readonly string[];
  /** Cells as they are shown, one for each column. */
  readonly rows: readonly (readonly string[])[];
}

export type Column<Row> = readonly [title: string, cell: (row: Row) => string];

export function tableOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[], title?: string): Table {
  return {
    ...(title === undefined ? {} : { title }),
    columns: columns.map(([name]) => name),
    rows: rows.map((row) => columns.map(([, cell]) => cell(row))),
  };
}

/** What stands in place of a difference that is not above zero. */
export const WITHIN_SPREAD = 'within the spread';

/** The median of a figure over the rounds and its range, a column each. */
export function spread<Row>(title: string, of: (row: Row) => readonly number[], rangeTitle = 'range'): Column<Row>[] {
  return [
    [title, (row) => digits(median(of(row)))],
    [rangeTitle, (row) => range(of(row))],
  ];
}

/** A cell must neither end its column nor its row. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');
}

/** The table as Markdown, its title above it. */
export function markdownOf({ title, columns, rows }: Table): string {
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`);
  return [...(title === undefined ? [] : [`**${title}**`, '']), ...lines].join('\n');
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The value that this share (0 to 1) of the values does not exceed: the nearest rank. NaN of nothing. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Three digits or more: 0.12, 12.3, 123. */
export function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Rounds of which one has more than so many times another's figure say little by their median. */
const WIDE = 1.5;

export function isWide(values: readonly number[]): boolean {
  const least = Math.min(...values);
  return least > 0 && Math.max(...values) > WIDE * least;
}

/** Smallest and largest: `0.12 to 0.15`, `0.12 to 12.3 (wide)`. */
export function range(values: readonly number[]): string {
  return `${digits(Math.min(...values))} to ${digits(Math.max(...values))}${isWide(values) ? ' (wide)' : ''}`;
}
