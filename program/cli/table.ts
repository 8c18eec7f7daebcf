/** Aligned columns for people. */

export type Row = readonly (string | number | null)[];

export function table(headings: readonly string[], rows: readonly Row[]): string {
  const cells = [headings, ...rows.map((row) => row.map((cell) => String(cell ?? '-')))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** How long ago, in the largest unit that fits: `40 s`, `3 min`, `2 h`, `5 d`. */
export function ago(timestamp: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(timestamp)) / 1_000));
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}
