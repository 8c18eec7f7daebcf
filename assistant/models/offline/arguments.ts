/** Owns how the offline model fills an action's parameters from a message: only with what the message plainly says. */
import { stemmedWords } from '../../knowledge/terms.ts';
import { spokenName } from './words.ts';

export interface ParamSchema {
  readonly type?: unknown;
  readonly description?: unknown;
  readonly enum?: unknown;
  readonly items?: unknown;
  readonly format?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
}

/** What was found for an action: the arguments, and the words of the message that they account for. */
export interface Filled {
  readonly args: Readonly<Record<string, unknown>>;
  readonly tokenCount: number;
  readonly usedTexts: readonly string[];
}

interface Token {
  readonly kind: 'quote' | 'placeholder' | 'email' | 'date' | 'id' | 'number' | 'name';
  readonly value: string;
  readonly at: number;
}

/** A person writes a few values into a message; more are a pasted document. */
const TOKENS_MAX = 32;
const WORDS_MAX = 400;

const TOKEN_PATTERNS: readonly (readonly [Token['kind'], RegExp])[] = [
  ['quote', /"([^"\n]{1,300})"|“([^“”\n]{1,300})”|«([^«»\n]{1,300})»|(?<![\p{L}\p{N}])'([^'\n]{1,300})'(?![\p{L}\p{N}])/gu],
  ['placeholder', /⟦[a-z]+_\d+⟧/g],
  ['email', /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+/gu],
  ['date', /(?<![\p{L}\p{N}-])\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?(?![\p{L}\p{N}])/gu],
  ['id', /(?<![\p{L}\p{N}])[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu],
  ['number', /(?<![\p{L}\p{N}_.,-])-?\d+(?:\.\d+)?(?![\p{L}\p{N}_])/gu],
  ['name', /(?<=(?:^|\s)(?:in|for|at|to|from|of|about|called|named)\s)\p{Lu}[\p{L}\p{M}'’-]*(?:\s\p{Lu}[\p{L}\p{M}'’-]*){0,3}/gu],
];

/** An identifier has a digit not too far from its beginning, and something else. */
const IDENTIFIES = /^[\p{L}_-]{0,24}\d/u;
const NOT_A_NUMBER = /[\p{L}_-]/u;

/** Words that say a parameter wants an identifier, in the last place of its name. */
const ID_WORDS = new Set([
  'id',
  'ids',
  'number',
  'no',
  'nr',
  'code',
  'key',
  'ref',
  'reference',
  'sku',
  'order',
  'ticket',
  'tracking',
  'booking',
]);
const DATE_WORDS = new Set(['date', 'day', 'at', 'on', 'since', 'until', 'from', 'to']);

function tokensOf(message: string): Token[] {
  const found: (Token & { end: number })[] = [];
  for (const [kind, pattern] of TOKEN_PATTERNS) {
    for (const match of message.matchAll(pattern)) {
      if (kind === 'id' && !(IDENTIFIES.test(match[0]) && NOT_A_NUMBER.test(match[0]))) continue;
      const [at, end] = [match.index, match.index + match[0].length];
      if (found.length >= TOKENS_MAX) break;
      if (found.some((other) => at < other.end && other.at < end)) continue;
      const value = match.slice(1).find((group) => group !== undefined) ?? match[0];
      found.push({ kind, value, at, end });
    }
  }
  return found.sort((a, b) => a.at - b.at);
}

class Filling {
  readonly args: Record<string, unknown> = {};
  readonly usedTexts: string[] = [];
  tokenCount = 0;
  readonly #message: string;
  readonly #tokens: Token[];
  readonly #words: string;

  constructor(message: string) {
    this.#message = message;
    this.#tokens = tokensOf(message);
    this.#words = ` ${stemmedWords(message, WORDS_MAX).join(' ')} `;
  }

  fill(name: string, schema: ParamSchema, isRequired: boolean): boolean {
    const value = this.#value(name, schema, isRequired);
    if (value === undefined) return false;
    this.args[name] = value;
    return true;
  }

  #value(name: string, schema: ParamSchema, isRequired: boolean): unknown {
    if (Array.isArray(schema.enum)) return this.#mentioned(schema.enum)[0];
    switch (schema.type) {
      case 'boolean':
        return this.#flag(name);
      case 'number':
      case 'integer':
        return this.#number(name, schema, isRequired);
      case 'array':
        return this.#list(name, schema);
      case 'string':
        return this.#string(name, schema, isRequired);
      default:
        return undefined;
    }
  }

  /** The allowed values that the message names, in the order of the schema, the longer of two overlapping ones first. */
  #mentioned(values: readonly unknown[]): unknown[] {
    const found = values
      .map((value) => ({ value, words: stemmedWords(String(value).replace(/[_-]/g, ' '), WORDS_MAX).join(' ') }))
      .filter(({ words }) => words !== '' && this.#words.includes(` ${words} `))
      .sort((a, b) => b.words.length - a.words.length);
    for (const { value } of found) this.usedTexts.push(String(value).replace(/[_-]/g, ' '));
    return found.map(({ value }) => value);
  }

  #flag(name: string): boolean | undefined {
    const words = stemmedWords(spokenName(name), WORDS_MAX).join(' ');
    const at = words === '' ? -1 : this.#words.indexOf(` ${words} `);
    if (at === -1) return undefined;
    return !/ (?:no|not|without|dont|never) $/.test(`${this.#words.slice(0, at)} `);
  }

  /** Takes the first token of the kinds, preferring one written right after the parameter's name ("order id A-1042"). */
  #take(name: string, kinds: readonly Token['kind'][], onlyLabelled: boolean): string | undefined {
    const candidates = this.#tokens.filter((token) => kinds.includes(token.kind));
    const label = spokenName(name);
    const labelled = candidates.find((token) => {
      const before = this.#message
        .slice(Math.max(0, token.at - label.length - 8), token.at)
        .toLowerCase()
        .replace(/[_-]/g, ' ');
      return new RegExp(`(?:^|[^\\p{L}])${label.replace(/[^\p{L}\p{N} ]/gu, '.')}\\s{0,4}(?:[:=#]|is|of)?\\s{0,4}["“'#]?$`, 'u').test(
        before,
      );
    });
    const taken = labelled ?? (onlyLabelled ? undefined : candidates[0]);
    if (taken === undefined) return undefined;
    this.#tokens.splice(this.#tokens.indexOf(taken), 1);
    this.usedTexts.push(taken.value);
    this.tokenCount++;
    return taken.value;
  }

  #number(name: string, schema: ParamSchema, isRequired: boolean): number | undefined {
    const text = this.#take(name, ['number'], !isRequired);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (schema.type === 'integer' && !Number.isInteger(value)) return undefined;
    if (typeof schema.minimum === 'number' && value < schema.minimum) return undefined;
    return typeof schema.maximum === 'number' && value > schema.maximum ? undefined : value;
  }

  #string(name: string, schema: ParamSchema, isRequired: boolean): string | undefined {
    const words = spokenName(name).split(' ');
    const last = words.at(-1) ?? '';
    const about = (pattern: RegExp) => pattern.test(words.join(' ')) || pattern.test(String(schema.format ?? ''));
    for (const [kind, pattern] of [
      ['email', /e ?mail|recipient/],
      ['phone', /phone|mobile|tel\b/],
      ['iban', /iban|account number/],
      ['card', /card/],
    ] as const) {
      if (!about(pattern)) continue;
      const index = this.#tokens.findIndex((token) => token.value.startsWith(`⟦${kind}_`) || (kind === 'email' && token.kind === 'email'));
      const [token] = index === -1 ? [] : this.#tokens.splice(index, 1);
      if (token === undefined) continue;
      this.tokenCount++;
      this.usedTexts.push(token.value);
      return token.value;
    }
    if (about(/e ?mail|phone|iban/)) return undefined;
    if (about(/^date|date-time/) || (DATE_WORDS.has(last) && !ID_WORDS.has(last))) return this.#take(name, ['date'], false);
    if (ID_WORDS.has(last)) return this.#take(name, ['id'], false) ?? this.#take(name, ['quote', 'number'], false);
    const plain = this.#take(name, ['quote', 'id', 'placeholder', 'email', 'number', 'name'], true);
    return plain ?? (isRequired ? this.#take(name, ['quote', 'name', 'id', 'placeholder', 'email'], false) : undefined);
  }

  #list(name: string, schema: ParamSchema): unknown[] | undefined {
    const items = (typeof schema.items === 'object' && schema.items !== null ? schema.items : {}) as ParamSchema;
    if (Array.isArray(items.enum)) {
      const named = this.#mentioned(items.enum);
      return named.length === 0 ? undefined : named;
    }
    const isNumeric = items.type === 'number' || items.type === 'integer';
    const values: unknown[] = [];
    for (let text = this.#take(name, isNumeric ? ['number'] : ['quote', 'id'], false); text !== undefined; ) {
      values.push(isNumeric ? Number(text) : text);
      text = this.#take(name, isNumeric ? ['number'] : ['quote', 'id'], false);
    }
    return values.length === 0 ? undefined : values;
  }
}

/** Undefined when `message` misses a required one. Optional ones are filled when the message names them. */
export function fillArguments(message: string, parameters: Readonly<Record<string, unknown>>): Filled | undefined {
  const properties = (parameters.properties ?? {}) as Readonly<Record<string, ParamSchema>>;
  const required = new Set(Array.isArray(parameters.required) ? parameters.required.map(String) : []);
  const filling = new Filling(message);
  const names = Object.keys(properties);
  for (const name of names.filter((each) => required.has(each))) {
    if (!filling.fill(name, properties[name] ?? {}, true)) return undefined;
  }
  for (const name of names.filter((each) => !required.has(each))) filling.fill(name, properties[name] ?? {}, false);
  return { args: filling.args, tokenCount: filling.tokenCount, usedTexts: filling.usedTexts };
}
