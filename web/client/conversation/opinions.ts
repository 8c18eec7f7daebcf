/** What a person thinks of answers: thumbs, and ratings that they were asked for (FEEDBACK-1, FEEDBACK-4). */
import type { ExtractEvents } from '@xstate/store';
import type { Log } from '../log.ts';
import { orLogged } from '../transport/failure.ts';
import { type Patience, patiently } from '../transport/pause.ts';
import type { Requests } from '../transport/requests.ts';
import { findBlock } from './changes.ts';
import type { ConversationStore } from './logic.ts';
import type { ConversationEvents } from './state.ts';

export interface OpinionsParts {
  readonly requests: Requests;
  readonly patience: Patience;
  readonly log: Log;
  readonly store: ConversationStore;
  readonly wish: (event: ExtractEvents<ConversationEvents>) => void;
}

export class Opinions {
  readonly #parts: OpinionsParts;

  constructor(parts: OpinionsParts) {
    this.#parts = parts;
  }

  /** A thumb under an answer. @throws ClientError when it could not be noted; the store shows the one before again */
  async thumb(messageId: string, rating: 1 | -1, reason?: string): Promise<void> {
    const before = this.#parts.store.get().context.feedback[messageId];
    this.#parts.wish({ type: 'rated', messageId, rating });
    try {
      await this.#post('/v1/feedback', { message_id: messageId, rating, ...(reason === undefined ? {} : { reason }) });
    } catch (error) {
      this.#parts.wish({ type: 'rated', messageId, rating: before });
      throw error;
    }
  }

  /** Answers a rating block without a turn. @throws ClientError when it could not be noted */
  async rate(messageId: string, blockId: string, value: number, comment?: string): Promise<void> {
    const said = comment === undefined ? {} : { comment };
    await this.#post('/v1/ratings', { message_id: messageId, block_id: blockId, value, ...said });
    const block = findBlock(this.#parts.store.get().context, blockId);
    if (block === undefined) return;
    const body = { ...block.body, status: 'answered', selected_ids: [String(value)] };
    this.#parts.wish({ type: 'blockChanged', block: { ...block, body } });
  }

  #post(path: string, body: object): Promise<unknown> {
    const { requests, patience, log } = this.#parts;
    const send = () => requests.json({ method: 'POST', path, body });
    return orLogged(log, 'warn', 'feedback_failed', () => patiently(patience, send), { path });
  }
}
