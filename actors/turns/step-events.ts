/** What the effects of a turn's step say in its stream beside blocks: calls for the client, what went wrong, and the end. */
import type { ChatTurnEffect } from '../../machines/chat-turn.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { TurnEnding } from './ending.ts';
import { errorEvent } from './failures.ts';
import type { TurnRounds } from './rounds.ts';
import type { TurnScope } from './scope.ts';

interface SaidOf {
  readonly scope: Pick<TurnScope, 'channel' | 'usage'>;
  readonly rounds: Pick<TurnRounds, 'executions' | 'pending'>;
  readonly ending: Pick<TurnEnding, 'short'>;
}

type Effect<Type extends ChatTurnEffect['type']> = Extract<ChatTurnEffect, { type: Type }>;

function endEvent(effect: Effect<'endTurn'>, { scope, rounds, ending }: SaidOf): StreamEvent {
  const pending = effect.status.startsWith('awaiting') ? { pending: rounds.pending() } : {};
  const short = effect.stopped ? { stopped: true } : effect.status === 'completed' ? ending.short() : {};
  const billable = scope.channel === 'live' && effect.status !== 'error';
  const left = scope.usage();
  return { type: 'turn.end', status: effect.status, ...pending, billable, ...short, ...(left === undefined ? {} : { usage: left }) };
}

/** In the order of the effects. A turn that ends with a notice is completed and free, as one that is refused with a notice. */
export function stepEvents(effects: readonly ChatTurnEffect[], of: SaidOf): StreamEvent[] {
  const isNotice = effects.some((effect) => effect.type === 'sendError' && effect.failure.notice !== undefined);
  return effects.flatMap((effect): StreamEvent[] => {
    switch (effect.type) {
      case 'executeActions':
        return of.rounds.executions();
      case 'sendError':
        return [errorEvent(effect.failure)];
      case 'endTurn': {
        const end = endEvent(effect, of);
        return [isNotice ? { ...end, type: 'turn.end', status: 'completed' } : end];
      }
      default:
        return [];
    }
  });
}
