/** What a person thinks of answers: thumbs, and ratings that they were asked for (FEEDBACK-1, FEEDBACK-4). */
import type { ExtractEvents } from '@xstate/store';
import type { Log } from '../log.ts';
import { failureOf, logged } from '../transport/failure.ts';
import { type Patience, patiently } from '../transport/patience.ts';
import type { Requests } from '../transport/requests.ts';
import { findBlock } from './changes.ts';
import type { ConversationStore } from './logic.ts';
import type { ConversationEvents } from './state.ts';

export class Opinions {
  readonly #requests: Requests;
  readonly #patience: Patience;
  readonly #log: Log;
  readonly #store: ConversationStore;
  readonly #wish: (event: ExtractEvents<ConversationEvents>) => void;

  constructor(
    requests: Requests,
    patience: Patience,
    log: Log,
    store: ConversationStore,
    wish: (event: ExtractEvents<ConversationEvents>) => void,
  ) {
    this.#requests = requests;
    this.#patience = patience;
    this.#log = log;
    this.#store = store;
    this.#wish = wish;
  }

  /** A thumb under an answer. @throws ClientError when it could not be noted; the store shows the one before again */
  async thumb(messageId: string, rating: 1 | -1, reason?: string): Promise<void> {
    const before = this.#store.get().context.feedback[messageId];
    this.#wish({ type: 'rated', messageId, rating });
    try {
      await this.#post('/v1/feedback', { message_id: messageId, rating, ...(reason === undefined ? {} : { reason }) });
    } catch (error) {
      this.#wish({ type: 'rated', messageId, rating: before });
      throw error;
    }
  }

  /** Answers a rating block without a turn. @throws ClientError when it could not be noted */
  async rate(messageId: string, blockId: string, value: number, comment?: string): Promise<void> {
    const said = comment === undefined ? {} : { comment };
    await this.#post('/v1/ratings', { message_id: messageId, block_id: blockId, value, ...said });
    const block = findBlock(this.#store.get().context, blockId);
    if (block === undefined) return;
    const body = { ...block.body, status: 'answered', selected_ids: [String(value)] };
    this.#wish({ type: 'blockChanged', block: { ...block, body } });
  }

  async #post(path: string, body: object): Promise<void> {
    try {
      await patiently(this.#patience, () => this.#requests.json({ method: 'POST', path, body }));
    } catch (error) {
      this.#log.say('warn', 'feedback_failed', { path, ...logged(failureOf(error)) });
      throw error;
    }
  }
}
