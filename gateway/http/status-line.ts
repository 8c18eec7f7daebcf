/** The first line of an answer after its protocol, e.g. `404 Not Found`; made once per status. */
import { STATUS_CODES } from 'node:http';

const statusLines = new Map<number, string>();

export function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    statusLines.set(status, line);
  }
  return line;
}
