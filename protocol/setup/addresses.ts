/**
 * What the addresses in setup bodies look like, as patterns that JSON Schema can publish. They judge the form only:
 * whether an address may be reached is decided when it is fetched, on what its name resolves to.
 */
import { PARAM_NAME } from '../action-params.ts';

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4 = `${OCTET}(?:\\.${OCTET}){3}`;

const GROUP = '[0-9A-Fa-f]{1,4}';
const IPV6 = [
  `(?:${GROUP}:){7}${GROUP}`,
  `(?:${GROUP}:){1,7}:`,
  // `::` in the middle: so many groups before it, the rest after it.
  ...Array.from({ length: 6 }, (_, after) => `(?:${GROUP}:){1,${6 - after}}(?::${GROUP}){1,${after + 1}}`),
  `::(?:${GROUP}:){0,6}${GROUP}`,
  '::',
].join('|');
const LITERAL = `(?:${IPV4}|\\[(?:${IPV6})\\])`;

const PORT = '(?::(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}))?';

/** The last label starts with a letter: one of digits would make the whole name a number, which is an address in disguise. */
const NAME = '(?:[\\p{L}\\p{N}_-][\\p{L}\\p{M}\\p{N}_-]*\\.)*\\p{L}[\\p{L}\\p{M}\\p{N}_-]*';
/** A public name; whether its `xn--` labels are names is not a matter of form. */
const SERVER_NAME = '(?:[A-Za-z0-9_-]+\\.)+[A-Za-z][A-Za-z0-9-]*';
const LOCAL = `(?:[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]|${LITERAL})`;

/** White space, controls and delimiters never stand in an address as they are. */
const REST = '[^\\s<>"\\\\\\p{Cc}]';

/** An http or https address without a user or password in it. */
export const WEB_ADDRESS = new RegExp(`^[Hh][Tt][Tt][Pp][Ss]?://(?:${NAME}|${LITERAL})${PORT}(?:[/?#]${REST}*)?$`, 'u');

/** `{{param.x}}` in a url_template or body_template. */
export const PARAM_MARKER = `\\{\\{param\\.${PARAM_NAME}\\}\\}`;

const TEMPLATE_REST = `(?:[/?#](?:[^\\s<>"\\\\{}\\p{Cc}]|${PARAM_MARKER})*)?`;

/**
 * An https address of a public name, with markers after the host only. `local` (development, ALLOW_PRIVATE_ADDRESSES)
 * also takes localhost and literal addresses, those over http too (SERVERACTION-4).
 */
export function templateAddress(local: boolean): RegExp {
  const production = `https://${SERVER_NAME}`;
  return new RegExp(`^(?:${local ? `${production}|https?://${LOCAL}` : production})${PORT}${TEMPLATE_REST}$`, 'u');
}

/** `words` as part of a pattern, in any mixture of capitals. */
export function anyCase(words: string): string {
  return words.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}
