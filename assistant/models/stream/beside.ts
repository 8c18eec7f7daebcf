/** Where the time and the passages of a request stand: behind all that stays from turn to turn (MODEL-32). */
import { passagesWords } from '../../fence.ts';
import type { ChatMessage, ModelRequest } from '../model.ts';

/** The time and the passages as one message, if there are any. Of role user: what passages say must not have the weight of instructions. */
function besideMessage({ now, passages }: ModelRequest): ChatMessage[] {
  const words = [now, passages.length === 0 ? '' : passagesWords(passages)].filter((part) => part !== '').join('\n\n');
  return words === '' ? [] : [{ role: 'user', content: words }];
}

/** The messages, with the time and the passages in a message of their own right before the last one of the person. */
export function withBeside(request: ModelRequest): ChatMessage[] {
  const { messages } = request;
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  const before = lastUser < 0 ? messages.length : lastUser;
  return [...messages.slice(0, before), ...besideMessage(request), ...messages.slice(before)];
}
