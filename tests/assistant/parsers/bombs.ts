/** Documents of some kilobytes that unfold to more memory than a process has, or keep it busy for ever. */
import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { makePdf } from '../knowledge/documents.ts';

const MB = 1024 * 1024;

function deflated(bytes: Buffer): Buffer {
  return deflateSync(bytes, { level: 9 });
}

const ZLIB_HEADER = Buffer.of(0x78, 0x9c);

/** `text` over and over, `megabytes` of it, deflated and deflated again: some kilobytes. */
export function folded(text: string, megabytes: number, begin = ''): Buffer {
  const piece = Buffer.alloc(MB, text);
  // A flushed piece depends on nothing before it: so it can stand there any number of times.
  const [first, again] = [Buffer.from(begin), piece].map((part) => deflateRawSync(part, { finishFlush: constants.Z_FULL_FLUSH }));
  const once = Buffer.concat([ZLIB_HEADER, first as Buffer, ...Array<Buffer>(megabytes).fill(again as Buffer)]);
  return deflated(once);
}

/** A PDF of these objects, numbered from 1; the first is the catalogue. */
export function pdfOf(objects: readonly (string | Buffer)[], trailer = ''): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = [Buffer.from('%PDF-1.5\n')];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  const put = (part: Buffer) => {
    parts.push(part);
    length += part.length;
  };
  for (const [at, object] of objects.entries()) {
    offsets.push(length);
    put(Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), Buffer.from(object as string), Buffer.from('\nendobj\n')]));
  }
  const start = length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  put(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Uint8Array.from(Buffer.concat(parts));
}

export function stream(data: Buffer, filter: string, more = ''): Buffer {
  return Buffer.concat([Buffer.from(`<< /Length ${data.length} ${filter} ${more} >>\nstream\n`), data, Buffer.from('\nendstream')]);
}

function bomb(text: string, megabytes: number, begin = ''): Buffer {
  return stream(folded(text, megabytes, begin), '/Filter [/FlateDecode /FlateDecode]');
}

/** A catalogue, a tree of one page, and the page with these contents, resources and further objects from 4 on. */
export function onePage(contents: string, resources: string, objects: readonly (string | Buffer)[]): Uint8Array<ArrayBuffer> {
  const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << ${resources} >> /Contents ${contents} >>`;
  return pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [3 0 R] /Count 1 >>', page, ...objects]);
}

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';

export const PDF_BOMBS: Readonly<Record<string, () => Uint8Array<ArrayBuffer>>> = {
  'a page that unfolds to blanks': () => onePage('4 0 R', '', [bomb(' ', 2_000)]),
  'a page of one endless word': () => onePage('4 0 R', '/Font << /F1 5 0 R >>', [bomb('a', 1_000, 'BT /F1 12 Tf ('), FONT]),
  'a page of lists in lists': () => onePage('4 0 R', '', [bomb('[1 ', 1_000)]),
  'a page of words without end': () => onePage('4 0 R', '/Font << /F1 5 0 R >>', [bomb('(a) Tj ', 1_000, 'BT /F1 12 Tf '), FONT]),
  'a page that is drawn a thousand times': () => onePage(`[${'4 0 R '.repeat(1_000)}]`, '', [bomb(' ', 100)]),
  'a map of characters without end': () =>
    onePage('4 0 R', '/Font << /F1 5 0 R >>', [
      stream(Buffer.from('BT /F1 12 Tf (abc) Tj ET'), ''),
      '<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding 7 0 R /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>',
      '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (A) /Ordering (B) /Supplement 0 >> >>',
      bomb('<00000000> <00ffffff> 0\n', 1_000, '1 begincidrange\n'),
    ]),
  'objects without end in a stream': () =>
    pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /Resources 4 0 R /Contents 4 0 R >>',
      bomb('<<', 1_000),
    ]),
  'a cross-reference table without end': () => {
    const entries = bomb('\x01\x00\x00\x00', 1_000).toString('latin1');
    const table = entries.replace('<<', '<< /Type /XRef /Size 300000000 /W [1 2 1] /Root 1 0 R');
    return Uint8Array.from(Buffer.from(`%PDF-1.5\n9 0 obj\n${table}\nendobj\nstartxref\n9\n%%EOF\n`, 'latin1'));
  },
};

/** Nested some thousand deep with a long list inside: indented, its lines are thousands of blanks each. 63 KB become 300 MB. */
export function jsonBomb(): Buffer {
  const depth = 2_500;
  const inside = '0,'.repeat(29_000);
  return Buffer.from(`${'['.repeat(depth)}${inside}0${']'.repeat(depth)}`);
}

/** 20 KB on its way, and hundreds of megabytes of elements here. */
export function htmlBomb(): Buffer {
  return Buffer.alloc(9 * MB, '<b>');
}

/** Trees of pages and references that lead back to where they began, and what need not be unfolded at all. */
export const PDF_LOOPS: Readonly<Record<string, () => Uint8Array<ArrayBuffer>>> = {
  'a font without end': () =>
    onePage('4 0 R', '/Font << /F1 5 0 R >>', [
      stream(Buffer.from('BT /F1 12 Tf (abc) Tj ET'), ''),
      '<< /Type /Font /Subtype /TrueType /BaseFont /X /FontDescriptor 6 0 R /FirstChar 0 /LastChar 255 >>',
      '<< /Type /FontDescriptor /FontName /X /Flags 4 /FontFile2 7 0 R >>',
      bomb('a', 1_000),
    ]),

  'a tree of pages that holds itself': () =>
    pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000000 >>']),
  'a parent that is its own child': () =>
    pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 500 /Parent 3 0 R >>',
      '<< /Type /Pages /Kids [2 0 R] /Count 500 /Parent 2 0 R >>',
    ]),
  'a form that draws itself': () =>
    onePage('4 0 R', '/XObject << /X 4 0 R >>', [
      stream(
        Buffer.from('/X Do /X Do /X Do'),
        '',
        '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 4 0 R >> >>',
      ),
    ]),
  'a reference that leads to itself': () => pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '2 0 R']),
  'a cross-reference table that comes before itself': () => makePdf([['One page.']], { trailer: '/Prev 9' }),
  'nesting without end': () => pdfOf([`<< /Type /Catalog /Pages ${'['.repeat(10_000)} >>`]),
};
