/** Streams that are read as they come, and may break off or be left. */
import { request } from 'undici';
import { DEVICE, HANDSHAKE, parseEvents, type StreamedEvent } from './client.ts';

/**
 * Attaches to a turn (trying again until it exists) and leaves once `words` were heard; returns the events seen so far.
 */
export async function fetchUntil(baseUrl: string, key: string, turnId: string, words: string): Promise<StreamedEvent[]> {
  const headers = { 'X-Service-Key': key, 'X-Service-Device': DEVICE };
  for (;;) {
    const answer = await request(`${baseUrl}/v1/chat/${turnId}`, { headers });
    if (answer.statusCode === 404) {
      await answer.body.dump();
      continue;
    }
    let text = '';
    for await (const chunk of answer.body) {
      text += chunk;
      const whole = text.slice(0, text.lastIndexOf('\n\n') + 2);
      const events = parseEvents(whole);
      if (events.some((event) => JSON.stringify(event).includes(words))) return events;
    }
    return parseEvents(text);
  }
}

/** Sends a message and tells every event as it arrives; returns false when the stream broke off before `turn.end`. */
export async function follow(
  baseUrl: string,
  key: string,
  body: Readonly<Record<string, unknown>>,
  onEvent: (event: StreamedEvent) => void,
): Promise<boolean> {
  let ended = false;
  try {
    const answer = await request(`${baseUrl}/v1/chat`, {
      method: 'POST',
      headers: { 'X-Service-Key': key, 'X-Service-Device': DEVICE, 'Content-Type': 'application/json' },
      body: JSON.stringify({ client: HANDSHAKE, ...body }),
    });
    let rest = '';
    for await (const chunk of answer.body) {
      rest += chunk;
      const end = rest.lastIndexOf('\n\n') + 2;
      if (end < 2) continue;
      for (const event of parseEvents(rest.slice(0, end))) {
        onEvent(event);
        ended ||= event.type === 'turn.end';
      }
      rest = rest.slice(end);
    }
  } catch (error) {
    if (!isBrokenConnection(error)) throw error;
  }
  return ended;
}

export function isBrokenConnection(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_ABORTED'].includes(String(code));
}
