/** A copy of a request's head, which outlives the callback that brought the request: uWebSockets lends its own only so long. */
import type { HttpRequest } from 'uWebSockets.js';

export class HeadCopy {
  readonly #headers: ReadonlyMap<string, string>;
  readonly #query: string;

  constructor(headers: ReadonlyMap<string, string>, query: string) {
    this.#headers = headers;
    this.#query = query;
  }

  static of(req: HttpRequest): HeadCopy {
    const headers = new Map<string, string>();
    req.forEach((name, value) => {
      // The first of several lines, as `getHeader` answers.
      if (!headers.has(name)) headers.set(name, value);
    });
    return new HeadCopy(headers, req.getQuery() ?? '');
  }

  /** By lowercase name; '' when absent. */
  getHeader(name: string): string {
    return this.#headers.get(name) ?? '';
  }

  getQuery(): string {
    return this.#query;
  }

  withHost(host: string): HeadCopy {
    return new HeadCopy(new Map(this.#headers).set('host', host), this.#query);
  }
}

/** Stands for the head of a request that was answered before it was copied. */
export const NO_HEAD = new HeadCopy(new Map(), '');

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Malformed escapes name nothing that exists; the handler answers as for any unknown id.
    return part;
  }
}

const NO_PARAMETERS: Readonly<Record<string, string>> = {};

/** Parameters of the path, by the names that its route gives them. */
export function readParameters(req: HttpRequest, names: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return NO_PARAMETERS;
  const params: Record<string, string> = {};
  names.forEach((name, index) => {
    params[name] = decoded(req.getParameter(index) ?? '');
  });
  return params;
}
