/** Console: one turn by its id: what it cost, and each block as the model's words were kept, in placeholder form (CONSOLE-28). */
import { Refusal } from '../../protocol/errors.ts';
import { toUsd } from '../../protocol/money.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type Spent, spentOnTurn } from '../../storage/billing/usage-ledger.ts';
import { readBlocks } from '../../storage/conversations/blocks.ts';
import { readTurn } from '../../storage/conversations/turns.ts';
import { defineRoute, json } from '../route.ts';
import { requireApp } from './lookup.ts';

export function spentToWire(spent: Spent | null) {
  if (spent === null) return null;
  return { input_tokens: spent.inputTokens, output_tokens: spent.outputTokens, cost_usd: toUsd(spent.costMicroUsd) };
}

export const readTurnRoute = defineRoute({
  method: 'GET',
  path: '/console/api/apps/:app/turns/:turn',
  caller: 'operator',
  handle({ params }, services) {
    const { app, db } = requireApp(services, params.app);
    const turnId = params.turn ?? '';
    const row = readTurn(db, app.id, turnId.toLowerCase());
    if (row === undefined) throw new Refusal('not_found', `There is no turn ${turnId}.`);
    const answer = row.turn * 2 + 1;
    return json({
      turn: {
        turn_id: row.turnId,
        conversation_id: row.conversationId,
        message_id: row.assistantMessageId,
        state: row.state,
        model: row.model,
        opened_at: timestamp(row.openedAtMs),
        ended_at: timestamp(row.endedAtMs),
        spent: spentToWire(spentOnTurn(db, row.turn)),
        blocks: readBlocks(db, [answer]).get(answer) ?? [],
      },
    });
  },
});
