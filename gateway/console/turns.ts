/** Console: one turn by its id: what it cost, and each block as the model's words were kept, in placeholder form (CONSOLE-28). */

import type { Block } from '../../protocol/catalog/block.ts';
import { Refusal } from '../../protocol/errors.ts';
import { toUsd } from '../../protocol/money.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type Spent, spentOnTurn } from '../../storage/billing/usage-ledger.ts';
import { readBlocks } from '../../storage/conversations/blocks.ts';
import { readTurn } from '../../storage/conversations/turns.ts';
import { json } from '../route.ts';
import { appRoute } from './app-read.ts';

export function spentToWire(spent: Spent | null) {
  if (spent === null) return null;
  return { input_tokens: spent.inputTokens, output_tokens: spent.outputTokens, cost_usd: toUsd(spent.costMicroUsd) };
}

/** The words of a person's message; null for what had none, as results of calls. */
function wordsOf(blocks: readonly Block[]): string | null {
  const words = blocks.flatMap(({ body: { md } }) => (typeof md === 'string' ? [md] : []));
  return words.length === 0 ? null : words.join('\n');
}

export const readTurnRoute = appRoute('GET', '/turns/:turn', undefined, ({ app, db }, { params }) => {
  const turnId = params.turn ?? '';
  const row = readTurn(db, app.id, turnId.toLowerCase());
  if (row === undefined) throw new Refusal('not_found', `There is no turn ${turnId}.`);
  const [question, answer] = [row.turn * 2, row.turn * 2 + 1];
  const blocks = readBlocks(db, [question, answer]);
  return json({
    turn: {
      turn_id: row.turnId,
      conversation_id: row.conversationId,
      message_id: row.messageId,
      state: row.state,
      model: row.model,
      opened_at: timestamp(row.openedAtMs),
      ended_at: timestamp(row.endedAtMs),
      spent: spentToWire(spentOnTurn(db, row.turn)),
      said: wordsOf(blocks.get(question) ?? []),
      blocks: blocks.get(answer) ?? [],
    },
  });
});
