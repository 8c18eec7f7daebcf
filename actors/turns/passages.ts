/** The passages of the app's knowledge that a turn answers from. */
import type { Passage } from '../../assistant/models/model.ts';
import { searchKnowledge } from '../../storage/knowledge/knowledge-search.ts';
import { PASSAGES_PER_SEARCH } from '../knowledge/explained-search.ts';
import type { TurnScope } from './scope.ts';

/** Settles when the meaning of `text` is known or will not be; undefined when a search need not wait for it. */
export function prepareSearch({ hasKnowledge, services }: TurnScope, text: string): Promise<void> | undefined {
  return hasKnowledge ? services.meanings?.prepare(text) : undefined;
}

/** What the knowledge says about `text`, by its words, and by its meaning where that is known. */
export function searchPassages({ command, db, hasKnowledge, services }: TurnScope, text: string): Passage[] {
  const found = hasKnowledge ? searchKnowledge(db, command.app.id, text, PASSAGES_PER_SEARCH, services.meanings?.get(text)) : [];
  if (found.length > 0) command.onPassages?.(found);
  return found;
}
