/** Documents that tests are written around: a PDF made by hand, and pages that mean harm. */

/** A PDF escapes these in a string. */
function pdfString(text: string): string {
  return `(${text.replace(/[\\()]/g, '\\$&')})`;
}

export interface PdfOptions {
  /** Drawn on every page instead of its lines, as it is: a stream that says how it is encoded. */
  readonly stream?: { readonly filter: string; readonly data: Buffer };
  readonly title?: string;
  /** Put into the trailer as it is. */
  readonly trailer?: string;
}

/** A small PDF with one line of text after the other; an empty line is left blank on the page. */
export function makePdf(pages: readonly (readonly string[])[], { title, trailer = '', stream }: PdfOptions = {}): Uint8Array<ArrayBuffer> {
  const first = 4;
  const kids = pages.map((_, at) => `${first + at * 2} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...pages.flatMap((lines, at) => {
      const drawn = lines.map((line) => `${pdfString(line)} Tj 0 -14 Td`).join('\n');
      const content = stream === undefined ? `BT /F1 12 Tf 72 720 Td\n${drawn}\nET` : stream.data.toString('latin1');
      const filter = stream === undefined ? '' : `/Filter /${stream.filter}`;
      const resources = '<< /Font << /F1 3 0 R >> >>';
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources ${resources} /Contents ${first + at * 2 + 1} 0 R >>`,
        `<< /Length ${content.length} ${filter} >>\nstream\n${content}\nendstream`,
      ];
    }),
    ...(title === undefined ? [] : [`<< /Title ${pdfString(title)} >>`]),
  ];
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = body.length;
    body += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const info = title === undefined ? '' : `/Info ${objects.length} 0 R`;
  const size = objects.length + 1;
  body += `xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${size} /Root 1 0 R ${info} ${trailer} >>\n`;
  body += `startxref\n${body.lastIndexOf('xref\n0 ')}\n%%EOF\n`;
  return Uint8Array.from(Buffer.from(body, 'latin1'));
}

/** Pages that keep a parser, an article finder or a renderer busy, or make it recurse. */
export const HOSTILE_PAGES: Readonly<Record<string, string>> = {
  'deep elements': `${'<div>'.repeat(3_000)}needle`,
  'deep inline elements': `${'<b>'.repeat(3_000)}needle`,
  'deep lists': `${'<ul><li>x'.repeat(1_000)}needle`,
  'deep tables': `${'<table><tr><td>'.repeat(1_000)}needle`,
  'deep quotes': `${'<blockquote>x'.repeat(1_000)}needle`,
  'many attributes': `<p ${'a=1 '.repeat(100_000)}>needle`,
  'a row of many cells': `<table><tr>${'<td>x'.repeat(5_000)}<tr><td>needle</table>`,
  'many rows': `<table>${'<tr><td>x<td>y'.repeat(5_000)}</table>needle`,
  'many comments': `${'<!-- x -->'.repeat(20_000)}needle`,
  'unclosed marks': `needle ${'<'.repeat(100_000)}`,
  entities: `needle ${'&amp'.repeat(20_000)}`,
};
