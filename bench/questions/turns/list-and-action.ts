/** W7: text, a list and a read action, answered by the client, and the continuation. */

import type { ReadTurn } from '../../load/turn-client.ts';
import { LIST_ACTION_MODEL, LIST_COMPONENT, READ_ACTION } from '../../model/scripted-model.ts';
import { askerOf, askersOf, HELLO, ONE_TOKEN, type TurnKind, timesOf } from './turn-kind.ts';

const MANIFEST = {
  version: 'bench-1',
  actions: [
    {
      name: READ_ACTION,
      description: 'Looks up where an order is. Call it when the person asks about the status or delivery of an order.',
      risk: 'read',
      params: { order: { type: 'string', description: 'What was ordered', required: true } },
    },
  ],
};
const ACTION_RESULT = { status: 'shipped', carrier: 'the usual one', eta: 'tomorrow' };
const CALLS = `text 4, ${LIST_COMPONENT}, calls ${READ_ACTION}, awaiting_tool_results`;

function answerTo({ events }: ReadTurn): { readonly conversationId: string; readonly say: Readonly<Record<string, unknown>> } {
  let conversationId = '';
  let invocationId = '';
  for (const event of events) {
    if (event.type === 'turn.start') conversationId = event.conversation_id;
    else if (event.type === 'action.execute') invocationId = event.invocation_id;
  }
  return { conversationId, say: { tool_results: [{ invocation_id: invocationId, status: 'ok', result: ACTION_RESULT }] } };
}

export const listAndAction: TurnKind = {
  name: 'W7',
  what: 'text, a list and a read action, answered by the client, and the continuation',
  model: LIST_ACTION_MODEL,
  rounds: 2,
  components: [LIST_COMPONENT],
  target: 2,
  preparedInS: 2,
  async prepare(stage) {
    const registration = stage.client();
    const manifestHash = await registration.register(stage.app.liveKey, MANIFEST);
    registration.close();
    const askers = askersOf(stage, manifestHash);
    return async (client, stream) => {
      const request = { asker: askerOf(askers, stream), components: stage.components, conversationId: undefined, say: HELLO };
      const turn = await client.turn(request, CALLS);
      const continuation = await client.turn({ ...request, ...answerTo(turn) }, ONE_TOKEN);
      return timesOf(turn, continuation);
    };
  },
};
