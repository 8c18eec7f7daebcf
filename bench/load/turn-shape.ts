/** What an answer brought, in few words, so that it can be held against what it should have brought. Pure. */
import type { NumberedEvent } from '../../web/client/events.ts';

/**
 * The parts of an answer in the order in which they were whole: `text 4` (characters that came as deltas), other blocks by their
 * type, `calls <action>`, errors and notices by their code, and at the end how it ended. Parts that came twice stand there twice.
 */
export function shapeOf(events: readonly NumberedEvent[]): string {
  const parts: string[] = [];
  let chars = 0;
  for (const event of events) {
    if (event.type === 'block.delta') chars += event.text_delta.length;
    else if (event.type === 'block.ready') {
      const { block_type: type } = event.block;
      parts.push(type === 'text' ? `text ${chars}` : type);
      if (type === 'text') chars = 0;
    } else if (event.type === 'action.execute') parts.push(`calls ${event.name}`);
    else if (event.type === 'error') parts.push(`error ${event.code}`);
    else if (event.type === 'notice') parts.push(`notice ${event.reason}`);
    else if (event.type === 'turn.end') parts.push(event.status);
  }
  return parts.join(', ');
}
