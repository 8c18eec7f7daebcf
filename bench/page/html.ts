/** Pieces of a page: escaping, tables, the frame. Pure. */
import { type Table, WITHIN_SPREAD } from '../report/table.ts';
import { STYLE } from './style.ts';

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}

/** `12.3`, `1,000`, `0.5 / 2.0`, `1 to 3 (wide)`, `within the spread`, `≤ 60`, `99 %`, `−`, nothing. */
const NUMERIC =
  /^(?:[≤≥<>+~−–-]?\s?[\d.,]*(?:\s?(?:×|%|ms|s|µs|MB|KB|GB))?(?:\s?(?:\/|to|\+)\s?[−-]?[\d.,]+(?:\s?(?:×|%|ms|s|µs|MB|KB|GB))?)*(?: \(wide\))?\**|the limit)$/;

function numericColumns({ columns, rows }: Table): readonly boolean[] {
  return columns.map(
    (_, at) =>
      rows.some((row) => /\d/.test(row[at] ?? '')) && rows.every((row) => NUMERIC.test((row[at] ?? '').replaceAll(WITHIN_SPREAD, '0'))),
  );
}

/** How many rows from here on begin with the same cell; 0 where the row before does. */
function rowsSpanned(rows: Table['rows'], from: number): number {
  const first = rows[from]?.[0];
  if (from > 0 && rows[from - 1]?.[0] === first) return 0;
  let to = from;
  while (to < rows.length && rows[to]?.[0] === first) to++;
  return to - from;
}

/** A table; rows that begin with the same cell share it. */
export function tableHtml(table: Table): string {
  const { title, columns, rows } = table;
  const numeric = numericColumns(table);
  const mark = (at: number): string => (numeric[at] === true ? ' class="number"' : '');
  const head = columns.map((column, at) => `<th scope="col"${mark(at)}>${escaped(column)}</th>`).join('');
  const body = rows.map((row, at) => {
    const spanned = rowsSpanned(rows, at);
    const span = spanned > 1 ? ` rowspan="${spanned}"` : '';
    const first = spanned === 0 ? '' : `<th scope="${spanned > 1 ? 'rowgroup' : 'row'}"${span}${mark(0)}>${escaped(row[0] ?? '')}</th>`;
    const cells = row.slice(1).map((cell, index) => `<td${mark(index + 1)}>${escaped(cell)}</td>`);
    return `<tr${spanned > 0 && at > 0 ? ' class="first"' : ''}>${first}${cells.join('')}</tr>`;
  });
  const caption = title === undefined ? '' : `<caption>${escaped(title)}</caption>`;
  // Whoever has no mouse scrolls a region by keys once it has the focus.
  return `<div class="scroll" role="region" tabindex="0" aria-label="${escaped(title ?? columns.slice(0, 3).join(', '))}"><table>${caption}<thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

export function pageHtml(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><main>
${body}
</main></body></html>
`;
}
