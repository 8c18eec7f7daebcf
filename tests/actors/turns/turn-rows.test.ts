/** What a continuation makes of the turns that waited for it, in rows. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { machineRow, resumedTurns, turnMachine } from '../../../actors/turns/turn-rows.ts';
import { TURN_STATES, type TurnState } from '../../../protocol/runtime/states.ts';
import { insertInvocations } from '../../../storage/conversations/invocations.ts';
import { type OpenTurnInput, type OpenTurnOutput, transactions } from '../../../storage/conversations/turn-openings.ts';
import { readTurn, type TurnKind } from '../../../storage/conversations/turns.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { commitGroup, type WritableFile } from '../../../storage/sqlite/group.ts';
import { addApp, openFiles } from '../../storage/migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const CONVERSATION = 'cnv_1';
const SNAPSHOT = JSON.stringify(turnMachine().snapshot.context);

/** One conversation and the turns that are written into it, by the transaction that opens turns. */
class Conversation {
  readonly db: Connection;
  readonly #file: WritableFile;
  readonly #appId: string;
  #turns = 0;

  constructor(t: TestContext) {
    const files = openFiles(t, NOW);
    this.db = files.db;
    // The writer knows of inputs only that they are plain data.
    this.#file = { connection: this.db, transactions: transactions as never, sealing: undefined };
    this.#appId = addApp(files, 'Shop', NOW);
  }

  open(turn: { kind: TurnKind; state: TurnState; resumed?: OpenTurnInput['resumed'] }): OpenTurnOutput {
    this.#turns += 1;
    const fence = this.#turns === 1 ? { expectedEpoch: null, epoch: 1 } : { expectedEpoch: 1, epoch: 1 };
    const input: OpenTurnInput = {
      ...{ appId: this.#appId, channel: 'sandbox', turnId: `turn_${this.#turns}`, fingerprint: 'f', deviceId: 'd', requestId: 'r' },
      ...{ request: '{}', model: 'm', runBy: 'a', nowMs: NOW, conversationId: CONVERSATION, fence: { ...fence, owner: 'a' }, person: null },
      ...{ userMessage: null, placeholders: [], messageId: `msg_${this.#turns}`, attempt: 1, snapshot: SNAPSHOT, nextSeq: 1 },
      ...{ journal: null, ended: true, admission: null, picks: [], invocationChanges: [], resumed: [], ...turn },
    };
    const [settlement] = commitGroup(this.#file, [{ id: 1, path: this.db.path, name: 'openTurn', input }]);
    assert.ok(settlement?.ok);
    return settlement.value as OpenTurnOutput;
  }

  /** A turn that is there, with a call of its own if it `calls`; returns its number. */
  add(kind: TurnKind, state: TurnState, calls: boolean): number {
    const output = this.open({ kind, state });
    assert.ok(output.outcome === 'opened');
    const { turn } = output;
    const call = { id: `inv_${turn}`, callId: 'call', name: 'look_up', params: '{}', risk: 'read', executor: 'client' } as const;
    const owner = { appId: this.#appId, conversationId: CONVERSATION, turn, messageId: `msg_${this.#turns}`, nowMs: NOW };
    if (calls) insertInvocations(this.db, owner, [{ ...call, timeoutMs: 1, state: 'dispatched', blockId: null, expiresAtMs: null }]);
    return turn;
  }

  stateOf(turn: number): TurnState | undefined {
    return readTurn(this.db, this.#appId, `turn_${turn}`)?.state;
  }
}

/** What the machine makes of a turn in this state that is resumed. */
function resumed(state: TurnState): string {
  return turnMachine({ state, snapshot: SNAPSHOT }).send({ type: 'turn.resumed' }).state;
}

for (const state of TURN_STATES) {
  test(`HOUSE-5: ${state} × turn.resumed: the rows of a continuation's turns are where the machine says`, (t) => {
    const conversation = new Conversation(t);
    const named = conversation.add('message', state, true);
    const other = conversation.add('message', state, true);
    const sameWait = conversation.add('continuation', state, false);
    const ownWait = conversation.add('continuation', state, true);
    const moves = resumedTurns(conversation.db, CONVERSATION, [named]);
    assert.equal(conversation.open({ kind: 'continuation', state: 'answering', resumed: moves }).outcome, 'opened');
    assert.deepEqual([conversation.stateOf(named), conversation.stateOf(sameWait)], [resumed(state), resumed(state)]);
    assert.deepEqual([conversation.stateOf(other), conversation.stateOf(ownWait)], [state, state], 'their calls are not answered');
  });
}

test('HOUSE-5: a turn that moved on since it was stepped leaves nothing of the opening, which is tried again', (t) => {
  const conversation = new Conversation(t);
  const named = conversation.add('message', 'awaiting_tool_results', true);
  const moves = resumedTurns(conversation.db, CONVERSATION, [named]);
  conversation.open({ kind: 'continuation', state: 'answering', resumed: moves });
  assert.deepEqual(conversation.open({ kind: 'continuation', state: 'answering', resumed: moves }), { outcome: 'stale' });
  assert.equal(conversation.stateOf(3), undefined);
});

test('HOUSE-5: a turn’s machine comes back from its row as it was, whatever happened to it', () => {
  const failure = { code: 'internal', message: 'It failed.', retryable: true } as const;
  const waiting = { reads: 1, confirmations: 2 };
  const events = [
    { type: 'turn.open', serverCalls: 0, waiting: { reads: 0, confirmations: 0 } },
    { type: 'round.finished', serverCalls: 1, waiting: { reads: 0, confirmations: 0 } },
    { type: 'calls.settled' },
    { type: 'round.failed', failure },
    { type: 'turn.retry' },
    { type: 'round.finished', serverCalls: 0, waiting },
    { type: 'turn.resumed' },
  ] as const;
  const machine = turnMachine();
  for (const event of events) {
    machine.send(event);
    const stored = turnMachine(machineRow(machine));
    assert.deepEqual([stored.state, stored.snapshot.context], [machine.state, machine.snapshot.context]);
  }
  const stopped = turnMachine();
  stopped.send(events[0]);
  stopped.send({ type: 'turn.stop' });
  assert.equal(turnMachine(machineRow(stopped)).snapshot.context.stopped, true);
});
