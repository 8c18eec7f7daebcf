/** How the answer of a turn ended as far as the model is concerned: whole, cut off, or before it began. Owns what is told of that. */
import type { Logger } from 'pino';
import type { RoundResult } from '../../assistant/models/model.ts';
import type { ChatTurnEvent } from '../../machines/chat-turn.ts';
import { nothingSaid } from './failures.ts';

export class TurnEnding {
  /** Of the last round; `length` also where the answer grew beyond a bound of ours. */
  reason: RoundResult['reason'] = 'stop';

  /** `end`, or that the turn failed, because nothing at all was said in it: a person must not look at nothing. */
  close(end: ChatTurnEvent, blocks: number, log: Logger): ChatTurnEvent {
    if (blocks > 0) return end;
    log.warn({ reason: this.reason }, 'the model said nothing');
    return { type: 'round.failed', failure: nothingSaid(this.reason) };
  }

  /** What `turn.end` says of an answer that is not whole. */
  short(): { truncated?: true; filtered?: true } {
    if (this.reason === 'length') return { truncated: true };
    return this.reason === 'filtered' ? { filtered: true } : {};
  }
}
