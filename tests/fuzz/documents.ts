/** Seeds that documents are mutated from: PDF, HTML, SVG, ZIP, images and text, all made here. */

import { exif, gif, jpeg, png, pngChunk, svg, webp, zip } from '../assistant/images/image-bytes.ts';
import { HOSTILE_PAGES, makePdf } from '../assistant/knowledge/documents.ts';
import { onePage, PDF_LOOPS, pdfOf, stream } from '../assistant/parsers/bombs.ts';

export interface Seed {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
const PAGE = `<!doctype html><html><head><title>Tea</title><base href="/x"></head><body><nav>a</nav><article><h1>Returns</h1>
<p>Tea can be <b>sent <i>back</b></i> &amp; refunded.</p><ul><li>One<ol><li>Two</ol></ul><table><tr><th colspan=2>a<td>b</table>
<pre>x  y</pre><a href="javascript:alert(1)">z</a><svg><style><!--</style></svg><template><p>t</template></article></body></html>`;

const PDFS = [
  makePdf([['One page.', 'Two lines.'], ['Another page.']], { title: 'A title' }),
  onePage('4 0 R', '/Font << /F1 5 0 R >>', [stream(Buffer.from('BT /F1 12 Tf 9 9 Td (abc) Tj [(d) -20 (e)] TJ ET'), ''), FONT]),
  pdfOf(['<< /Type /Catalog /Pages 2 0 R /Names << /Dests 2 0 R >> >>', '<< /Type /Pages /Kids [2 0 R] /Count 1 >>']),
  ...Object.values(PDF_LOOPS).map((make) => make()),
].filter((bytes) => bytes.length < 30_000);

const SVGS = [
  svg('<path d="M0 0h24v12H0z"/>'),
  svg(
    '<defs><linearGradient id="a"><stop offset="0"/></linearGradient></defs><rect fill="url(#a)" width="9" height="9"/><use xlink:href="#b"/><g id="b"/>',
  ),
  svg(
    '<style>rect{fill:url(#a)}@import "x";</style><script>alert(1)</script><foreignObject><b>x</b></foreignObject><image href="data:,"/>',
  ),
  svg('<filter id="f"><feGaussianBlur stdDeviation="1"/></filter><g filter="url(#f)"><text>a</text><animate attributeName="x"/></g>'),
];

const typed = (mediaType: string, all: readonly (Uint8Array | string)[]): Seed[] =>
  all.map((bytes) => ({ mediaType, bytes: Buffer.from(bytes as string) }));

export const RASTERS: readonly Seed[] = [
  ...typed('image/png', [png(), png(3, 2, [pngChunk('tEXt', Buffer.from('a\0b'))])]),
  ...typed('image/jpeg', [jpeg(), jpeg(3, 2, [exif(6)])]),
  ...typed('image/webp', [webp()]),
  ...typed('image/gif', [gif()]),
  ...typed('application/zip', [zip('word/document.xml', '<a/>'), zip('a.txt', 'x')]),
];

export const SVG_SEEDS = typed('image/svg+xml', SVGS);

/** What a knowledge link may answer, and an upload may be. */
export const DOCUMENTS: readonly Seed[] = [
  ...typed('application/pdf', PDFS),
  ...typed('text/html', [PAGE, ...Object.values(HOSTILE_PAGES).map((page) => page.slice(0, 3_000))]),
  ...typed('text/plain', ['# Tea\n\nSent back within 60 days.', '\ufeffa\u0000b']),
  ...typed('application/json', ['{"a":[1,{"b":"c"}],"d":null}']),
];

export const ALL_SEEDS: readonly Seed[] = [...DOCUMENTS, ...SVG_SEEDS, ...RASTERS];
