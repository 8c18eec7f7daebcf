/** JSON of what strangers say, in both directions. */

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Without what a page's library gave to all lists: Prototype.js has each written as a text in the text. Copied only where there is such a one. */
function plain(value: unknown): unknown {
  if (!('toJSON' in Array.prototype)) return value;
  if (Array.isArray(value)) return Object.assign(value.map(plain), { toJSON: undefined });
  if (!isRecord(value) || typeof value.toJSON === 'function') return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

/** As `JSON.stringify`, on every page. @throws TypeError as that does */
export function jsonText(value: object): string {
  return JSON.stringify(plain(value));
}

/** A value as JSON; undefined for what JSON has no words for. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(plain(value)) as string | undefined;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What came, for a message to whoever builds with it. */
export function told(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'function' || (typeof value === 'object' && value !== null))
    return Array.isArray(value) ? 'a list' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
  return typeof value === 'number' ? `${value} (a number)` : String(value);
}

/** @throws TypeError in one sentence where an app gives something else than is wanted */
export function mustBe(isIt: boolean, what: string, wanted: string, came: unknown): asserts isIt {
  if (!isIt) throw new TypeError(`${what} must be ${wanted}: ${told(came)} came.`);
}
