/** What stands in a path where its route has names, such as `:turn_id`. */
import type { HttpRequest } from 'uWebSockets.js';

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Malformed escapes name nothing that exists; the handler answers as for any unknown id.
    return part;
  }
}

/** By the names that the route gives them, in its order; '' each when the request is gone. */
export function readParameters(req: HttpRequest | null, names: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  names.forEach((name, index) => {
    params[name] = decoded(req?.getParameter(index) ?? '');
  });
  return params;
}
