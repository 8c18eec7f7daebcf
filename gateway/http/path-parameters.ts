/** The values of a path's parameters, such as `:turn_id`. */
import type { HttpRequest } from 'uWebSockets.js';

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Malformed escapes name nothing that exists; the handler answers as for any unknown id.
    return part;
  }
}

const NO_PARAMETERS: Readonly<Record<string, string>> = {};

/** By the names that the route gives them, in its order. */
export function readParameters(req: HttpRequest, names: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return NO_PARAMETERS;
  const params: Record<string, string> = {};
  names.forEach((name, index) => {
    params[name] = decoded(req.getParameter(index) ?? '');
  });
  return params;
}
