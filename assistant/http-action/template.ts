/**
 * Puts parameters into the templates of an HTTP action (CALL-1). Owns the rule that a value stays in the place of its marker: in a path one
 * segment, in a query one name or value, in a body one string or JSON value. What was left out takes its pair of the query or member of the
 * body with it; a path cannot do without.
 */
import { PARAM_MARKER } from '../../protocol/setup/addresses.ts';

export type Params = ReadonlyMap<string, unknown>;

/** These values cannot be sent in these places. `message` is a sentence for the model and holds no value. */
export class Unsendable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Unsendable';
  }
}

/** Half of a surrogate pair is no character; whoever decodes UTF-8 reads this in its place. */
const REPLACEMENT = '\u{fffd}';

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\p{Surrogate}/gu, REPLACEMENT);
  return Array.isArray(value) ? value.map(wellFormed) : value;
}

/** The parameters as they are sent: without those that are null, and each string made of whole characters. */
export function sendableParams(params: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null);
  return new Map(given.map(([name, value]) => [name, wellFormed(value)]));
}

interface Piece {
  readonly literal: string;
  readonly param: string | undefined;
}

const MARKER = new RegExp(`(${PARAM_MARKER})`);

function piecesOf(template: string): Piece[] {
  const parts = template.split(MARKER);
  return parts.flatMap((literal, at) => (at % 2 === 1 ? [] : [{ literal, param: parts[at + 1]?.slice('{{param.'.length, -'}}'.length) }]));
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join(',') : String(value);
}

/** A percent sign that a value could complete to an escape is one of its own. */
function closed(literal: string): string {
  return literal.replaceAll(/%(?![0-9A-Fa-f]{2})/g, '%25');
}

/** `literal` with the values as components of it; undefined when one of them is missing. */
function component(pieces: readonly Piece[], params: Params): string | undefined {
  if (pieces.some(({ param }) => param !== undefined && !params.has(param))) return undefined;
  return pieces
    .map(({ literal, param }) => closed(literal) + (param === undefined ? '' : encodeURIComponent(textOf(params.get(param)))))
    .join('');
}

/** What a server may take for a slash once it has decoded the path, and for a step to another folder. */
const SLASH = /[\\/]|%2f|%5c/i;
const DOTS = /^(?:\.|%2e){1,2}$/i;

function pathSegment(template: string, params: Params): string {
  const pieces = piecesOf(template);
  const markers = pieces.flatMap(({ param }) => param ?? []);
  if (markers.length === 0) return closed(template);
  const written = component(pieces, params);
  const names = markers.join(', ');
  if (written === undefined) throw new Unsendable(`The action cannot be called without ${names}.`);
  if (written === '') throw new Unsendable(`The action cannot be called with an empty ${names}.`);
  const plain = pieces.map(({ literal, param }) => literal + (param === undefined ? '' : textOf(params.get(param)))).join('');
  // Before the URL's parser sees it: parsers do not agree on dots, and what is escaped here a server may read unescaped.
  if (plain.split(SLASH).some((step) => DOTS.test(step))) throw new Unsendable(`The value of ${names} must not be a path.`);
  return written;
}

const ADDRESS = /^([Hh][Tt][Tt][Pp][Ss]?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?/;

/** Without its fragment; `credentials` last. @throws Unsendable when a value would leave its place or a credential's name is there. */
export function renderUrl(template: string, params: Params, credentials: ReadonlyMap<string, string>): URL {
  const [, origin = '', path = '', query = ''] = ADDRESS.exec(template) ?? [];
  const rendered = path
    .split('/')
    .map((segment) => pathSegment(segment, params))
    .join('/');
  const pairs = query.split('&').flatMap((pair) => component(piecesOf(pair), params) ?? []);
  const names = new URLSearchParams(pairs.join('&'));
  for (const [name, value] of credentials) {
    if (names.has(name)) throw new Unsendable('The address has the query parameter of a credential already.');
    pairs.push(`${name}=${encodeURIComponent(value)}`);
  }
  const search = pairs.filter((pair) => pair !== '').join('&');
  return new URL(`${origin}${rendered}${search === '' ? '' : `?${search}`}`);
}

/** Stands for a parameter that was left out. No value can be it or hold it: those are made of whole characters. */
const ABSENT = '\u{dfff}';
/** With `u`: the same half within a whole character, as in the darkest thumbs-up, is none. */
const ABSENT_MARKS = /\u{dfff}/gu;

function endsInString(json: string, before: boolean): boolean {
  let inside = before;
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '"') inside = !inside;
    else if (inside && json[at] === '\\') at++;
  }
  return inside;
}

/** A value in place of a JSON value becomes one, a value inside a string text. */
export function renderBody(template: string, params: Params): string {
  let inside = false;
  let absent = false;
  let json = '';
  for (const { literal, param } of piecesOf(template)) {
    inside = endsInString(literal, inside);
    json += literal;
    if (param === undefined) continue;
    if (!params.has(param)) absent = true;
    const value = params.has(param) ? params.get(param) : ABSENT;
    json += inside ? JSON.stringify(textOf(value)).slice(1, -1) : JSON.stringify(value);
  }
  if (!absent) return json;
  const present = (_: string, value: unknown) => {
    if (value === ABSENT) return undefined;
    return typeof value === 'string' ? value.replaceAll(ABSENT_MARKS, '') : value;
  };
  return JSON.stringify(JSON.parse(json, present));
}
