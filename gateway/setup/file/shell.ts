/** How requests are written in the setup file: curl commands that work when they are copied into a shell, with readable JSON. */

export interface WorkedRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body: unknown;
}

/** Wider JSON is broken into lines. */
const LINE_MAX_CHARS = 120;

/** `text` as one word of a POSIX shell, whatever it holds. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function onOneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(onOneLine).join(', ')}]`;
  return `{ ${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}: ${onOneLine(member)}`)
    .join(', ')} }`;
}

function packed(parts: readonly string[], indent: string): string {
  const lines: string[] = [];
  parts.forEach((part, at) => {
    const text = at === parts.length - 1 ? part : `${part},`;
    const line = lines.at(-1);
    const fits = line !== undefined && !line.includes('\n') && !text.includes('\n') && line.length + text.length < LINE_MAX_CHARS;
    if (fits) lines[lines.length - 1] = `${line} ${text}`;
    else lines.push(indent + text);
  });
  return lines.join('\n');
}

/** JSON on as few lines as it fits on. */
function readable(value: unknown, indent = ''): string {
  const line = onOneLine(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= LINE_MAX_CHARS) return line;
  const inner = `${indent}  `;
  if (isList(value)) {
    const items = value.map((item) => readable(item, inner));
    return `[\n${packed(items, inner)}\n${indent}]`;
  }
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${readable(member, inner)}`);
  return `{\n${packed(members, inner)}\n${indent}}`;
}

/** The arguments of `-d`: nothing for a request without a body. */
export function dataArgument(body: unknown): string {
  return body === null ? '' : ` -H "$JSON" -d ${shellWord(readable(body))}`;
}

/** A call of the setup interface, with the variables that the setup file sets at its top. */
export function setupCurl({ method, path, body }: WorkedRequest): string {
  const usual = body === null ? 'GET' : 'POST';
  const verb = method === usual ? '' : ` -X ${method}`;
  return `curl -sS${verb} "$SETUP${path}" -H "$AUTH"${dataArgument(body)}`;
}

/** `text` on one line and without a code span's end, so that a name cannot become part of the instructions around it. */
export function inlineCode(text: string): string {
  return `\`${text.replaceAll(/[\s\p{Cc}`]+/gu, ' ').trim()}\``;
}
