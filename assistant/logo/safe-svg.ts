/**
 * The door to SVG: looks at the text, then has it made safe by a parser process. That is what bounds a hostile document in time and
 * memory, and what keeps a second of DOM work off the event loop that streams answers.
 */
import { isUtf8 } from 'node:buffer';
import { Refusal } from '../../protocol/errors.ts';
import { ParseFailure } from '../parsers/parser-process.ts';
import { parsers as ownParsers, type Parsers, ParsersBusy } from '../parsers/parsers.ts';
import type { SafeSvg } from './svg-purifier.ts';

const RETRY_AFTER_S = 5;
/** An element has two tags at most. Counted before a DOM is built, because building it is what costs memory. */
const TAGS_MAX = 12_500;

const DECLARES_ENTITIES = 'The SVG declares entities. Export it as plain SVG.';
const TOO_COMPLEX = 'The SVG is too complex. Simplify it, or send it as PNG.';

function unsupported(message: string): Refusal {
  return new Refusal('unsupported_type', message);
}

const DOCTYPE = /<!DOCTYPE/i;

/**
 * The text without the declaration that names the standard's DTD in files of older programs, and says nothing. Looks for
 * each end once: a pattern that spans the declaration would begin anew at every one of a hundred thousand.
 */
function withoutDoctype(text: string): string {
  const start = text.search(DOCTYPE);
  if (start < 0) return text;
  const end = text.indexOf('>', start);
  if (end < 0 || DOCTYPE.test(text.slice(start + 1))) {
    throw unsupported('The SVG has a DOCTYPE without an end, or two. Export it as plain SVG.');
  }
  if (text.slice(start, end).includes('[')) throw unsupported(DECLARES_ENTITIES);
  return text.slice(0, start) + text.slice(end + 1);
}

/** The document's text without what comes before its root. @throws Refusal for what no logo needs. */
function readText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw unsupported('The SVG is not UTF-8. Export it in that encoding.');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('utf8')
    .replace(/^\ufeff?\s*(?:<\?xml\s[^>]*\?>)?/, '');
  if (text.split('<', TAGS_MAX + 2).length > TAGS_MAX + 1) throw new Refusal('too_large', TOO_COMPLEX);
  if (/<!ENTITY/i.test(text)) throw unsupported(DECLARES_ENTITIES);
  return withoutDoctype(text);
}

/** @throws Refusal in place of what a parser failed with; anything else is a bug. */
function refusalOf(error: unknown): unknown {
  if (error instanceof ParsersBusy) {
    return new Refusal('rate_limited', 'Too many SVGs are being examined. Send it again in a few seconds.', { retryAfterS: RETRY_AFTER_S });
  }
  if (!(error instanceof ParseFailure) || error.kind === 'unavailable') return error;
  return error.kind === 'broken'
    ? unsupported('The SVG could not be read. Export it again, or send it as PNG.')
    : new Refusal('too_large', TOO_COMPLEX);
}

/**
 * The SVG, made safe: what acts or reaches outside is gone, the rest looks the same. `asker`: the organisation.
 * @throws Refusal unsupported_type, too_large (see svg-purifier.ts), rate_limited while too many wait.
 */
export async function safeSvg(bytes: Uint8Array, asker: string, parsers: Parsers = ownParsers): Promise<SafeSvg> {
  const text = Buffer.from(readText(bytes), 'utf8');
  const verdict = await parsers
    .parse('svg', {}, () => text, { asker, inBackground: false })
    .catch((error: unknown) => {
      throw refusalOf(error);
    });
  if (verdict.kind === 'safe') return verdict.svg;
  throw new Refusal(verdict.code, verdict.message);
}
