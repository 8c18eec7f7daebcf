/** A table as values, and how it reads in Markdown. Pure. */

export interface Table {
  /** What its rows have in common, where a section has several. */
  readonly title?: string;
  readonly columns: readonly string[];
  /** Cells as they are shown, one for each column. */
  readonly rows: readonly (readonly string[])[];
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
