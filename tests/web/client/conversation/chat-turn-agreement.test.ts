/** The client and the server's statechart agree: whatever happens to a turn at the service, the client that is told of it is in the same state. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ChatTurnContext, type ChatTurnEffect, type ChatTurnEvent, chatTurn } from '../../../../machines/chat-turn.ts';
import { stepper } from '../../../../machines/step.ts';
import type { PendingInvocation, StreamEvent } from '../../../../protocol/runtime/stream-events.ts';
import { ConversationSteps, TURN_ID } from './conversation-steps.ts';

const waiting = fc.record({ reads: fc.nat(2), confirmations: fc.nat(2) });
const failure = fc.record({ code: fc.constant('internal' as const), message: fc.constant('It broke.'), retryable: fc.boolean() });

const events: fc.Arbitrary<readonly ChatTurnEvent[]> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('round.finished' as const), serverCalls: fc.nat(1), waiting }),
    fc.constant<ChatTurnEvent>({ type: 'block.completed', blockId: 'blk' }),
    fc.record({ type: fc.constant('round.failed' as const), failure }),
    fc.constant<ChatTurnEvent>({ type: 'calls.settled' }),
    fc.constant<ChatTurnEvent>({ type: 'turn.stop' }),
    fc.record({ type: fc.constant('turn.interrupted' as const), failure }),
    fc.constant<ChatTurnEvent>({ type: 'turn.retry' }),
  ),
  { maxLength: 20 },
);

/** States of the machine as the client names them. */
const PHASES: Readonly<Record<string, string>> = { working: 'answering' };

/** Tells what a turn's actor would send for these effects. */
class Teller {
  readonly steps = new ConversationSteps().begin();
  #seq = 0;
  #index = 0;

  perform(effect: ChatTurnEffect, context: ChatTurnContext): void {
    switch (effect.type) {
      case 'sendStart':
        this.#index = 0;
        this.#tell({ type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: 'm', request_id: 'r' });
        return;
      case 'sendBlock':
        this.#block();
        return;
      case 'executeActions':
        for (const { risk, ...call } of this.#pending(context)) if (risk === 'read') this.#tell({ type: 'action.execute', ...call });
        return;
      case 'sendError':
        this.#tell({ type: 'error', ...effect.failure });
        return;
      case 'endTurn': {
        // No answer of the service is empty (CHAT-20).
        if (effect.status === 'completed' && !effect.stopped && this.#index === 0) this.#block();
        const pending = effect.status.startsWith('awaiting') ? { pending: this.#pending(context) } : {};
        this.#tell({ type: 'turn.end', status: effect.status, ...pending, ...(effect.stopped ? { stopped: true } : {}) });
        return;
      }
      case 'callModel':
      case 'runCalls':
      case 'abortModel':
        return;
    }
  }

  /** The person asks again: the same request over a new connection. */
  retry(): void {
    this.steps.send({ type: 'retry', turnId: TURN_ID });
    this.steps.open('send');
  }

  #tell(event: StreamEvent): void {
    this.steps.tell(this.#seq++, event);
  }

  #block(): void {
    const block = { index: this.#index++, id: `blk_${this.#seq}`, block_type: 'text' };
    this.#tell({ type: 'block.start', ...block });
    this.#tell({ type: 'block.ready', index: block.index, block: { ...block, revision: 1, body: { md: 'Words' } } });
  }

  #pending({ attempt, waiting: { reads, confirmations } }: ChatTurnContext): PendingInvocation[] {
    return Array.from({ length: reads + confirmations }, (_, at) => ({
      invocation_id: `inv_${attempt}_${at}`,
      name: 'look',
      params: {},
      risk: at < reads ? 'read' : 'write',
      timeout_ms: 1_000,
      executor: 'client',
    }));
  }
}

test('CLIENT-5: after each event of a turn the client is in the state that the statechart says', () => {
  const property = fc.property(waiting, events, (open, happened) => {
    const machine = stepper(chatTurn);
    const teller = new Teller();
    const seen: string[] = [];
    for (const event of [{ type: 'turn.open', serverCalls: 0, waiting: open } as const, ...happened]) {
      const before = machine.state;
      const { state, snapshot, effects } = machine.send(event);
      if (event.type === 'turn.retry' && before === 'failed' && state === 'answering') teller.retry();
      for (const effect of effects) teller.perform(effect, snapshot.context);
      seen.push(`${event.type}: ${before} → ${state}`);
      assert.equal(teller.steps.turn().phase, PHASES[state] ?? state, seen.join('\n'));
    }
  });
  fc.assert(property, { numRuns: 1_000 });
});
