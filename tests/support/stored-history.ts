/** What the service holds at the end, in rows and over HTTP, against what its clients observed: nothing twice, nothing lost. */
import assert from 'node:assert/strict';
import type Database from 'better-sqlite3';
import { createClient, createOperator, type TestApp } from './client.ts';
import type { Cluster } from './cluster.ts';
import {
  type Attempt,
  answerOf,
  attemptsByTurn,
  completedEnd,
  eventsOf,
  type History,
  type IntendedTurn,
  type Rule,
  type Violation,
} from './history.ts';

export interface StoredTurn {
  readonly turnId: string;
  readonly conversationId: string;
  readonly userMessageId: string | null;
  readonly assistantMessageId: string;
  readonly state: string;
  /** How many times it was begun. */
  readonly attempt: number;
  readonly charges: number;
}

export interface StoredBlock {
  readonly id: string;
  readonly block_type: string;
  readonly body: { readonly md?: string };
}

export interface HeldMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly role: string;
  readonly blocks: readonly StoredBlock[];
}

/** Everything that is held for one organisation whose one app a history is about. */
export interface Held {
  readonly turns: readonly StoredTurn[];
  /** From rows, in their order within each conversation. */
  readonly messages: readonly HeldMessage[];
  /** The same as devices are told it. */
  readonly served: readonly HeldMessage[];
  /** In millionths of a dollar. `charged`: of the charges; `orphans`: charges without a turn. */
  readonly ledger: { readonly charged: number; readonly spent: number; readonly orphans: number; readonly countedTurns: number };
  /** Calls of the model by the name of the question. */
  readonly modelCalls: ReadonlyMap<string, number>;
  /** The `Idempotency-Key` of each request that reached the app's own server. */
  readonly executions: readonly string[];
}

interface TurnRow {
  turn_id: string;
  conversation_id: string;
  user_message_id: string | null;
  assistant_message_id: string;
  state: string;
  attempt: number;
  charges: number;
}

type Report = (rule: Rule, of: string, detail: string) => void;

export function heldRows(db: Database.Database): Pick<Held, 'turns' | 'messages'> & { charged: number; orphans: number } {
  const all = <T>(sql: string) => db.prepare(sql).all() as T[];
  const turns = all<TurnRow>(
    `SELECT t.*, u.id AS user_message_id, a.id AS assistant_message_id, (SELECT count(*) FROM charges c WHERE c.turn = t.id) AS charges
     FROM turns t LEFT JOIN messages u ON u.no = t.id * 2 LEFT JOIN messages a ON a.no = t.id * 2 + 1 ORDER BY t.id`,
  );
  const blocks = new Map<string, StoredBlock[]>();
  type Row = { id: string; message_id: string; block_type: string; body: string };
  const said = 'SELECT b.*, m.id AS message_id FROM blocks b JOIN messages m ON m.no = b.place / 1024 ORDER BY b.place';
  for (const { id, message_id, block_type, body } of all<Row>(said)) {
    blocks.set(message_id, [...(blocks.get(message_id) ?? []), { id, block_type, body: JSON.parse(body) }]);
  }
  const messages = all<{ id: string; conversation_id: string; role: string }>(
    `SELECT m.id, t.conversation_id, iif(m.no % 2, 'assistant', 'user') AS role FROM messages m JOIN turns t ON t.id = m.no / 2
     ORDER BY t.conversation_id, m.no`,
  );
  const one = (sql: string) => (db.prepare(sql).get() as { n: number }).n;
  return {
    turns: turns.map((row) => ({
      turnId: row.turn_id,
      conversationId: row.conversation_id,
      userMessageId: row.user_message_id,
      assistantMessageId: row.assistant_message_id,
      state: row.state,
      attempt: row.attempt,
      charges: row.charges,
    })),
    messages: messages.map(({ id, conversation_id, role }) => ({
      id,
      role,
      conversationId: conversation_id,
      blocks: blocks.get(id) ?? [],
    })),
    charged: one('SELECT coalesce(sum(cost_microusd), 0) AS n FROM charges'),
    orphans: one('SELECT count(*) AS n FROM charges WHERE turn NOT IN (SELECT id FROM turns)'),
  };
}

/** Every conversation as its device is told it, by one node after the other. */
async function servedMessages(cluster: Cluster, app: TestApp, history: History, turns: readonly StoredTurn[]): Promise<HeldMessage[]> {
  const devices = new Map(turns.map(({ turnId, conversationId }) => [conversationId, history.turns.get(turnId)?.deviceId ?? '']));
  const nodes = cluster.up();
  const pages = [...devices].map(([conversationId, deviceId], n) => ({ conversationId, deviceId, node: nodes[n % nodes.length] }));
  const served: HeldMessage[] = [];
  // Some at a time: thousands at once would only wait for each other.
  for (let from = 0; from < pages.length; from += 32) {
    const answers = pages.slice(from, from + 32).map(async ({ conversationId, deviceId, node }) => {
      const client = createClient(node?.baseUrl ?? '', app.liveKey, deviceId);
      const answer = await client.send('GET', `/v1/conversations/${conversationId}/messages?limit=200`);
      assert.equal(answer.status, 200, answer.text);
      const { messages } = answer.json as { messages: { id: string; role: string; blocks: StoredBlock[] }[] };
      return messages.map(({ id, role, blocks }) => ({ id, role, conversationId, blocks }));
    });
    served.push(...(await Promise.all(answers)).flat());
  }
  return served;
}

/** Reads what is held now, when nothing runs any more. */
export async function readHeld(
  cluster: Cluster,
  app: TestApp,
  history: History,
  seen: Partial<Pick<Held, 'modelCalls' | 'executions'>> = {},
): Promise<Held> {
  const { turns, messages, charged, orphans } = heldRows(cluster.rows(app.organisationId));
  const usage = await createOperator(cluster.up()[0]?.baseUrl ?? '', cluster.operatorToken)('GET', `/orgs/${app.organisationId}/usage`);
  assert.equal(usage.status, 200, usage.text);
  const { spent_usd, apps } = usage.json as { spent_usd: number; apps: { turns: number }[] };
  return {
    turns,
    messages,
    served: await servedMessages(cluster, app, history, turns),
    ledger: { charged, orphans, spent: Math.round(spent_usd * 1_000_000), countedTurns: apps.reduce((sum, each) => sum + each.turns, 0) },
    modelCalls: seen.modelCalls ?? new Map(),
    executions: seen.executions ?? [],
  };
}

function textOf(message: HeldMessage | undefined): string {
  return (message?.blocks ?? []).map(({ body }) => body.md ?? '').join('\n');
}

/** What a stream was told is in the turn's rows. */
function checkAcknowledged(attempt: Attempt, row: StoredTurn | undefined, answer: HeldMessage | undefined, report: Report): void {
  const start = eventsOf(attempt).find(({ type }) => type === 'turn.start');
  if (start === undefined) return;
  if (row === undefined) {
    report('what was acknowledged is stored', attempt.turnId, `turn.start on ${attempt.node}, no turn`);
    return;
  }
  if (start.message_id !== row.assistantMessageId || start.conversation_id !== row.conversationId) {
    report('what was acknowledged is stored', attempt.turnId, `${start.message_id} of ${start.conversation_id} is not its row's`);
  }
  if (completedEnd(attempt) === undefined) return;
  if (['failed', 'answering'].includes(row.state))
    report('what was acknowledged is stored', attempt.turnId, `ended on ${attempt.node}, stored as ${row.state}`);
  const told = JSON.parse(answerOf(attempt)) as StoredBlock[];
  const stored = (answer?.blocks ?? []).map(({ id, body }) => ({ id, body }));
  const texts = told.filter(({ block_type }) => block_type === 'text').map(({ id, body }) => ({ id, body }));
  for (const block of texts) {
    if (!stored.some((held) => JSON.stringify(held) === JSON.stringify(block))) {
      report('what was streamed is stored', attempt.turnId, `${JSON.stringify(block)}, stored: ${JSON.stringify(stored)}`);
    }
  }
}

function checkTurn(turn: IntendedTurn, rows: readonly StoredTurn[], messages: ReadonlyMap<string, HeldMessage>, report: Report): void {
  const [row] = rows;
  if (row === undefined || rows.length !== 1) {
    report('one turn', turn.turnId, `${rows.length} rows`);
    return;
  }
  const question = messages.get(row.userMessageId ?? '');
  const isStored = turn.text === '' ? question === undefined : question?.role === 'user' && textOf(question) === turn.text;
  if (!isStored) report('its message is stored', turn.turnId, JSON.stringify(question));
  if (turn.conversationId !== null && row.conversationId !== turn.conversationId) {
    report('it stays in its conversation', turn.turnId, `${row.conversationId}, not ${turn.conversationId}`);
  }
  const shouldCost = row.state === 'failed' ? 0 : 1;
  if (row.charges !== shouldCost) report('one charge', turn.turnId, `${row.charges} in state ${row.state}`);
  if (row.state === 'answering') report('every turn ends', turn.turnId, 'still answering');
}

/** A model is asked once for each time that a turn was begun; continuations go on with the question before. */
function checkModelCalls(history: History, held: Held, report: Report): void {
  const begun = new Map<string, number>();
  for (const row of held.turns) {
    const called = history.turns.get(row.turnId)?.name ?? '';
    begun.set(called, (begun.get(called) ?? 0) + row.attempt);
  }
  for (const { turnId, name } of history.turns.values()) {
    const [calls, attempts] = [held.modelCalls.get(name) ?? 0, begun.get(name) ?? 0];
    if (calls > attempts) report('one model call an attempt', turnId, `${calls} calls, ${attempts} attempts`);
  }
}

/** Each question once and each answer once, in alternation; and devices are told what the rows say. */
function checkMessages(held: Held, intended: History['turns'], report: Report): void {
  const questions = new Map<string, number>();
  for (const message of held.messages) {
    if (message.role !== 'user') continue;
    const text = `${message.conversationId} ${textOf(message)}`;
    questions.set(text, (questions.get(text) ?? 0) + 1);
  }
  for (const [text, count] of questions) if (count > 1) report('one message', text.split(' ')[0] ?? '', `${count} times: ${text}`);
  const continuations = held.turns.filter(({ turnId }) => intended.get(turnId)?.text === '').length;
  const roles = { user: held.turns.length - continuations, assistant: held.turns.length };
  for (const [role, wanted] of Object.entries(roles)) {
    const count = held.messages.filter((message) => message.role === role).length;
    if (count !== wanted) report('one message', role, `${count} messages for ${wanted} turns`);
  }
  for (const { turnId } of held.turns) if (!intended.has(turnId)) report('no other turns', turnId, 'nobody sent it');
  const shown = (messages: readonly HeldMessage[]) =>
    new Map(messages.map(({ id, role, blocks }) => [id, JSON.stringify([role, blocks.map((block) => [block.id, block.body])])]));
  const served = shown(held.served);
  for (const [id, json] of shown(held.messages)) {
    if (served.get(id) !== json && json !== '["assistant",[]]') report('rows are what is served', id, `${json}, served: ${served.get(id)}`);
  }
  if (held.served.length > held.messages.length)
    report('rows are what is served', 'all', `${held.served.length} served, ${held.messages.length} rows`);
}

function checkLedger({ ledger, turns, executions }: Held, intended: History['turns'], report: Report): void {
  // Continuations are not counted.
  const messages = turns.filter(({ turnId }) => intended.get(turnId)?.text !== '').length;
  if (ledger.charged !== ledger.spent) report('the ledger adds up', 'ledger', `charged ${ledger.charged}, told ${ledger.spent}`);
  if (ledger.orphans > 0) report('one charge', 'ledger', `${ledger.orphans} charges of no turn`);
  if (ledger.countedTurns !== messages) report('each turn is counted once', 'ledger', `${ledger.countedTurns} of ${messages}`);
  const calls = new Map<string, number>();
  for (const id of executions) calls.set(id, (calls.get(id) ?? 0) + 1);
  for (const [id, count] of calls) if (count > 1) report('executed once', id, `${count} times`);
}

/** Everything in which what is held differs from what was observed. */
export function checkHeld(history: History, held: Held): Violation[] {
  const found: Violation[] = [];
  const report: Report = (rule, of, detail) => found.push({ rule, of, detail });
  const messages = new Map(held.messages.map((message) => [message.id, message]));
  const rows = new Map<string, StoredTurn[]>();
  for (const row of held.turns) rows.set(row.turnId, [...(rows.get(row.turnId) ?? []), row]);
  for (const [turnId, attempts] of attemptsByTurn(history)) {
    const [row] = rows.get(turnId) ?? [];
    const answer = messages.get(row?.assistantMessageId ?? '');
    for (const attempt of attempts) checkAcknowledged(attempt, row, answer, report);
  }
  for (const turn of history.turns.values()) checkTurn(turn, rows.get(turn.turnId) ?? [], messages, report);
  checkModelCalls(history, held, report);
  checkMessages(held, history.turns, report);
  checkLedger(held, history.turns, report);
  return found;
}
