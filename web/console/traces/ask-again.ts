/** The request of a turn as a command for a shell: the same words, asked anew. */
import { CATALOG_VERSION, PROTOCOL_VERSION } from '../../../protocol/limits.ts';

/** Within single quotes a shell takes everything as it is, but for these themselves. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** `base`: the address of the service. The key is a variable, so that the command can be shown to others. */
export function askAgainCommand(base: string, said: string): string {
  const client = { protocol: PROTOCOL_VERSION, sdk: 'web/0.50.0', catalog_version: CATALOG_VERSION, components: ['text'] };
  const body = JSON.stringify({ message: { text: said }, client });
  const headers = ['-H "X-Service-Key: $KEY"', '-H "X-Service-Device: $(openssl rand -hex 16)"', "-H 'Content-Type: application/json'"];
  return `curl -N ${quoted(`${base}/v1/chat`)} ${headers.join(' ')} -d ${quoted(body)}`;
}
