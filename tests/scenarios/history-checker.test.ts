/** The checker of the chaos scenarios can fail: histories that went well but for one thing, and the rule that each of them breaks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamedEvent } from '../support/client.ts';
import { type Attempt, checkObservations, History, type IntendedTurn, RULES, type Rule } from '../support/history.ts';
import { checkHeld, type Held, type HeldMessage, type StoredTurn } from '../support/stored-history.ts';

/** Everything may be changed by whoever doctors it. */
type Open<T> =
  T extends ReadonlyMap<infer K, infer V>
    ? Map<K, V>
    : T extends readonly (infer E)[]
      ? Open<E>[]
      : T extends object
        ? { -readonly [K in keyof T]: Open<T[K]> }
        : T;

interface Patient {
  readonly history: History;
  /** The first turn's only copy that failed, at n1, and then came through at n2. */
  readonly broken: Open<Attempt>;
  readonly retried: Open<Attempt>;
  /** The second turn's copies. */
  readonly one: Open<Attempt>;
  readonly other: Open<Attempt>;
  readonly held: Open<Held>;
}

const words = (name: string, ordinal: number) => `Answer 1 to ${name}, question ${ordinal}. word`;

function intended(n: number, name: string): IntendedTurn {
  return { turnId: `turn-${n}`, name, text: `ask ${name}`, deviceId: 'd', conversationId: n === 1 ? null : 'cnv_1', ordinal: n };
}

/** The events of a whole answer from `seq` on. */
function answer({ name, ordinal }: IntendedTurn, seq: number): Open<StreamedEvent>[] {
  const md = words(name, ordinal);
  const block = { index: 0, id: `blk_${ordinal}`, block_type: 'text', revision: 1, body: { md } };
  const events = [
    { type: 'turn.start', conversation_id: 'cnv_1', message_id: `msg_a${ordinal}` },
    { type: 'block.start', index: 0, id: block.id, block_type: 'text' },
    { type: 'block.delta', index: 0, text_delta: md.slice(0, 5) },
    { type: 'block.delta', index: 0, text_delta: md.slice(5) },
    { type: 'block.ready', index: 0, block },
    { type: 'turn.end', status: 'completed' },
  ];
  return events.map((event, n) => ({ ...event, v: 1, seq: seq + n }));
}

function attempted(turn: IntendedTurn, node: string, events: Open<StreamedEvent>[], more: Partial<Attempt> = {}): Open<Attempt> {
  const seen = events.map((event, n) => ({ atMs: n, event }));
  const given = {
    copy: 0,
    number: 1,
    via: 'send',
    sentAtMs: 0,
    status: 200,
    refusal: null,
    closing: 'ended',
    closedAtMs: 9,
    error: null,
  } as const;
  return { ...given, turnId: turn.turnId, node, seen, ...more };
}

function message(id: string, role: string, md: string, block = `blk_${id}`): HeldMessage {
  return { id, role, conversationId: 'cnv_1', blocks: [{ id: block, block_type: 'text', body: { md } }] };
}

/** Two turns of one conversation: the first was killed in the middle and answered on another node, the second sent twice at once. */
function wellAndAlive(): Patient {
  const history = new History();
  const [first, second] = [intended(1, 'abcdefgh'), intended(2, 'ijklmnop')];
  const broken = attempted(first, 'n1', answer(first, 0).slice(0, 3), { closing: 'broken' });
  const retried = attempted(first, 'n2', answer(first, 1_000_002), { number: 2 });
  const one = attempted(second, 'n2', answer(second, 0));
  const other = attempted(second, 'n3', answer(second, 0), { copy: 1 });
  for (const turn of [first, second]) history.intend(turn);
  for (const each of [broken, retried, one, other]) history.attempt(each);
  history.sample({ conversationId: 'cnv_1', epoch: 1, owner: 'n1~a' });
  history.sample({ conversationId: 'cnv_1', epoch: 2, owner: 'n2~b' });
  const row = (turn: IntendedTurn, attempt: number): StoredTurn => ({
    turnId: turn.turnId,
    conversationId: 'cnv_1',
    userMessageId: `msg_u${turn.ordinal}`,
    assistantMessageId: `msg_a${turn.ordinal}`,
    state: 'completed',
    attempt,
    charges: 1,
  });
  const messages = () =>
    [first, second].flatMap((turn) => [
      message(`msg_u${turn.ordinal}`, 'user', turn.text),
      message(`msg_a${turn.ordinal}`, 'assistant', words(turn.name, turn.ordinal), `blk_${turn.ordinal}`),
    ]);
  const held: Held = {
    turns: [row(first, 2), row(second, 1)],
    messages: messages(),
    served: messages(),
    ledger: { charged: 6_000, spent: 6_000, orphans: 0, countedTurns: 2 },
    modelCalls: new Map([
      [first.name, 2],
      [second.name, 1],
    ]),
    executions: ['inv_1', 'inv_2'],
  };
  return { history, broken, retried, one, other, held: structuredClone(held) as Open<Held> };
}

function brokenRules({ history, held }: Patient): Rule[] {
  return [...checkObservations(history), ...checkHeld(history, held)].map(({ rule }) => rule);
}

const eventAt = (attempt: Open<Attempt>, at: number) => attempt.seen[at]?.event as Open<StreamedEvent>;

const change = <T extends object>(target: T | undefined, fields: Partial<Record<keyof T, unknown>>): void =>
  void Object.assign(target as T, fields);

/** What was done to a history, by the rule that it breaks. */
const DOCTORED: Readonly<Record<Rule, (it: Patient) => void>> = {
  'seq rises': ({ one }) => void one.seen.splice(3, 0, { atMs: 3, event: eventAt(one, 2) }),
  'no gap': ({ one }) => void one.seen.splice(2, 1),
  'turn.end is last': ({ one }) => void one.seen.push({ atMs: 9, event: { type: 'ping', v: 1, seq: 6 } }),
  'deltas are the block': ({ retried }) => change(eventAt(retried, 3), { text_delta: ' of something else' }),
  'streams end': ({ other }) => change(other, { closing: 'open' }),
  'streams end with turn.end': ({ broken }) => change(broken, { closing: 'ended' }),
  'refusals may be retried': ({ broken }) =>
    void broken.seen.push({ atMs: 9, event: { type: 'error', v: 1, seq: 3, code: 'internal', retryable: false } }),
  'one seq, one event': ({ broken, retried }) => {
    for (const [n, { event }] of retried.seen.entries()) (event as Open<StreamedEvent>).seq = n;
    eventAt(broken, 2).text_delta = 'Other';
  },
  'one message id': ({ broken }) => change(eventAt(broken, 0), { message_id: 'msg_a9' }),
  'one answer': ({ other }) => {
    const block = eventAt(other, 4).block as object;
    change(eventAt(other, 4), { block: { ...block, body: { md: 'Answer 2 to ijklmnop, question 2. word' } } });
  },
  'one end': ({ other }) => {
    for (const { event } of other.seen) (event as Open<StreamedEvent>).seq += 1_000_000;
  },
  'every copy is answered': ({ other }) => void other.seen.pop(),
  'the question asked is answered': ({ history }) => change(history.turns.get('turn-2'), { ordinal: 3 }),
  'epochs rise': ({ history }) => history.sample({ conversationId: 'cnv_1', epoch: 1, owner: 'n1~a' }),
  'one epoch, one owner': ({ history }) => history.sample({ conversationId: 'cnv_1', epoch: 2, owner: 'n3~c' }),
  'what was acknowledged is stored': ({ held }) => change(held.turns[1], { state: 'failed' }),
  'what was streamed is stored': ({ held }) => change(held.messages[3], { blocks: [] }),
  'one turn': ({ held }) => void held.turns.push({ ...(held.turns[1] as Open<StoredTurn>) }),
  'its message is stored': ({ held }) => change(held.messages[2], { blocks: [] }),
  'it stays in its conversation': ({ held }) => change(held.turns[1], { conversationId: 'cnv_2' }),
  'one charge': ({ held }) => change(held.turns[0], { charges: 2 }),
  'every turn ends': ({ held }) => change(held.turns[0], { state: 'answering' }),
  'one model call an attempt': ({ held }) => void held.modelCalls.set('ijklmnop', 2),
  'one message': ({ held }) => void held.messages.push({ ...(held.messages[0] as Open<HeldMessage>), id: 'msg_u9' }),
  'no other turns': ({ held }) => void held.turns.push({ ...(held.turns[1] as Open<StoredTurn>), turnId: 'turn-9' }),
  'rows are what is served': ({ held }) => void held.served.pop(),
  'the ledger adds up': ({ held }) => change(held.ledger, { spent: 9_000 }),
  'each turn is counted once': ({ held }) => change(held.ledger, { countedTurns: 3 }),
  'executed once': ({ held }) => void held.executions.push('inv_1'),
};

test('HOUSE-7: the history checker: a history that went well breaks no rule', () => {
  assert.deepEqual(brokenRules(wellAndAlive()), []);
});

test('HOUSE-7: the history checker: what one reader alone was told leaves no gap for the others', () => {
  const patient = wellAndAlive();
  const [, second] = [...patient.history.turns.values()] as [IntendedTurn, IntendedTurn];
  // A ping at 1, which is not kept, and a copy that was refused before the turn began.
  for (const { seen } of [patient.one, patient.other]) for (const { event } of seen.slice(1)) (event as Open<StreamedEvent>).seq += 1;
  const refusal = [
    { type: 'error', v: 1, seq: 0, code: 'internal', retryable: true },
    { type: 'turn.end', v: 1, seq: 1, status: 'error' },
  ];
  patient.history.attempt(attempted(second, 'n1', refusal, { copy: 1 }));
  assert.deepEqual(brokenRules(patient), []);
});

test('HOUSE-7: the history checker: a turn that is stopped before the model speaks may have the service’s own words alone', () => {
  const { history, one, other } = wellAndAlive();
  const block = { index: 0, id: 'blk_2', block_type: 'text', revision: 1, body: { md: 'It could not be found out.' } };
  for (const attempt of [one, other]) {
    attempt.seen.splice(2, 2);
    change(eventAt(attempt, 2), { seq: 2, block });
    change(eventAt(attempt, 3), { seq: 3 });
  }
  assert.deepEqual([...new Set(checkObservations(history).map(({ rule }) => rule))], ['the question asked is answered']);
  for (const attempt of [one, other]) change(eventAt(attempt, 3), { stopped: true });
  assert.deepEqual(checkObservations(history), []);
});

for (const rule of RULES) {
  test(`HOUSE-7: the history checker: “${rule}” can be broken, and it says so`, () => {
    const patient = wellAndAlive();
    DOCTORED[rule](patient);
    assert.ok(brokenRules(patient).includes(rule), `found instead: ${brokenRules(patient)}`);
  });
}
