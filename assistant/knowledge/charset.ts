/** Bytes → text, in the charset that they were written in: byte order mark, Content-Type, `<meta>`, then a guess. */
import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';

/** HTML has to name its charset within this many bytes (WHATWG "prescan"). */
const PRESCAN_BYTES = 1_024;

const MARKS: readonly (readonly [charset: string, mark: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
];

/** The standard's name for a label such as `latin1` or `x-sjis`; undefined for what is no charset of the web. */
function canonical(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function metaCharset(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, PRESCAN_BYTES);
  const found = canonical(/<meta[^<>]{0,200}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([^\s"'/>;]{1,40})/i.exec(head)?.[1]);
  // A <meta> that could be read as ASCII is not in UTF-16, whatever it says.
  return found?.startsWith('utf-16') ? 'utf-8' : found;
}

/** What is malformed becomes U+FFFD. Bytes that nothing says anything about are UTF-8 when they can be, else windows-1252. */
export function decodeText(bytes: Uint8Array, declared: string | undefined, html: boolean): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const marked = MARKS.find(([, mark]) => mark.every((byte, at) => buffer[at] === byte))?.[0];
  const charset = marked ?? canonical(declared) ?? (html ? metaCharset(buffer) : undefined) ?? (isUtf8(buffer) ? 'utf-8' : 'windows-1252');
  // TextDecoder knows every charset of the web, but some releases of Node read windows-1252 as Latin-1; iconv-lite does not.
  const text = iconv.encodingExists(charset) ? iconv.decode(buffer, charset) : new TextDecoder(charset).decode(buffer);
  return text.replace(/^\uFEFF/, '').replaceAll('\0', '');
}
