/** An assistant before a scripted service, with a clock that tests move. */
import type { TestContext } from 'node:test';
import type { StreamEvent } from '../../../protocol/runtime/stream-events.ts';
import { type Assistant, type AssistantOptions, createAssistant } from '../../../web/client/assistant.ts';
import type { TurnState } from '../../../web/client/conversation/turn.ts';
import type { LogRecord } from '../../../web/client/log.ts';
import { everywhere, keptInMemory } from '../../../web/client/platform/everywhere.ts';
import type { KeptValues } from '../../../web/client/surroundings.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from './manual-clock.ts';
import { type Answer, type ScriptedService, sendJson, startScriptedService } from './scripted-service.ts';

export const KEY = 'rd_pk_test_0123456789';
const HASH = 'a'.repeat(64);
/** Less than the shortest pause, and little beside every time-out. */
const STEP_MS = 100;

/** What every service answers that is there. */
export const USUAL: Readonly<Record<string, Answer>> = {
  'GET /v1/apps/config': (response) =>
    sendJson(response, 200, { channel: 'draft', version: 1, updated_at: null, available: true, config: {} }),
  'POST /v1/apps/manifest': (response) => sendJson(response, 200, { manifest_hash: HASH }),
  'POST /v1/events': (response) => response.writeHead(204).end(),
};

/** An answer of one block. */
export const ANSWER: readonly StreamEvent[] = [
  { type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: 'm', request_id: 'r' },
  { type: 'block.start', index: 0, id: 'blk_1', block_type: 'text' },
  { type: 'block.delta', index: 0, text_delta: 'Yes.' },
  { type: 'block.ready', index: 0, block: { index: 0, id: 'blk_1', block_type: 'text', revision: 1, body: { md: 'Yes.' } } },
  { type: 'turn.end', status: 'completed', billable: false },
];

export interface ScriptedAssistant {
  readonly assistant: Assistant;
  readonly service: ScriptedService;
  readonly clock: ManualClock;
  readonly log: readonly LogRecord[];
  readonly kept: KeptValues;
  /** The newest turn. */
  turn(): TurnState;
  /** Lets time pass in small steps until it is so. */
  until(isSo: () => boolean): Promise<void>;
}

export async function startScriptedAssistant(
  t: TestContext,
  answers: Readonly<Record<string, Answer>>,
  options: Partial<AssistantOptions> = {},
  kept: KeptValues = keptInMemory(),
): Promise<ScriptedAssistant> {
  const service = await startScriptedService(t, { ...USUAL, ...answers });
  const clock = new ManualClock();
  const log: LogRecord[] = [];
  const surroundings = everywhere({ clock, kept, log: (record) => log.push(record) });
  const assistant = createAssistant(
    { address: service.url, key: KEY, sdk: 'web/1.0.0', abilities: { components: ['text'] }, ...options },
    surroundings,
  );
  t.after(() => assistant.close());
  return {
    assistant,
    service,
    clock,
    log,
    kept,
    turn() {
      const turn = assistant.conversation.store.get().context.turns.at(-1);
      if (turn === undefined) throw new Error('nothing was said');
      return turn;
    },
    until: (isSo) =>
      eventually(() => {
        clock.pass(STEP_MS);
        return isSo();
      }),
  };
}
