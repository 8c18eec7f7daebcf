/** Where the time and the passages of a request stand: behind all that stays from turn to turn (MODEL-32). */
import { passagesWords } from '../../fence.ts';
import type { ChatMessage, ModelRequest } from '../model.ts';

function besideWords({ now, passages }: ModelRequest): string {
  if (passages.length === 0) return now;
  return now === '' ? passagesWords(passages) : `${now}\n\n${passagesWords(passages)}`;
}

/**
 * The messages, with the time and the passages in a message of their own right before the last one of the person. It is of role user: what
 * passages say must not have the weight of instructions.
 */
export function withBeside(request: ModelRequest): readonly ChatMessage[] {
  const { messages } = request;
  const content = besideWords(request);
  if (content === '') return messages;
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  return messages.toSpliced(lastUser < 0 ? messages.length : lastUser, 0, { role: 'user', content });
}
