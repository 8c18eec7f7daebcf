/** The rounds of one turn, whose commits take no time here: what the machine decides is performed at once. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { TurnAnswer } from '../../../actors/turns/answer.ts';
import { TurnLog } from '../../../actors/turns/log.ts';
import { TurnMailbox } from '../../../actors/turns/mailbox.ts';
import { TurnRounds } from '../../../actors/turns/rounds.ts';
import { turnMachine } from '../../../actors/turns/turn-rows.ts';
import type { ChatTurnEvent } from '../../../machines/chat-turn.ts';
import type { AppSettingsPatch } from '../../../protocol/console/app-settings.ts';
import { readOn } from './fixture.ts';
import { type Saying, ScriptedModel, turnsWorld } from './world.ts';

/** A turn in which the model says this to request after request, at its end; `said`: the words of its answer. */
async function ended(t: TestContext, say: (asked: number) => Saying, settings: AppSettingsPatch = {}) {
  const world = await turnsWorld(t, settings);
  const model = new ScriptedModel(say);
  const facts = world.facts(model, 'cnv_1', world.command({ message: { text: 'Where is it?' } }), { isNew: true });
  const log = new TurnLog(0, null);
  const machine = turnMachine();
  const answer = new TurnAnswer(facts, log);
  const { status } = await new Promise<{ readonly status: string }>((resolve, abandon) => {
    const advance = (event?: ChatTurnEvent) => {
      answer.take();
      if (event === undefined) return;
      for (const effect of machine.send(event).effects) {
        if (effect.type === 'callModel') rounds.ask(effect.round);
        else if (effect.type === 'runCalls') rounds.runCalls();
        else if (effect.type === 'endTurn') resolve(effect);
      }
    };
    const owner = { advance, abandon };
    const rounds = new TurnRounds(owner, facts, machine, new TurnMailbox(owner, facts.share), answer);
    advance({ type: 'turn.open', serverCalls: 0, waiting: { reads: 0, confirmations: 0 } });
  });
  const deltas = readOn(log, 0, Number.MAX_SAFE_INTEGER).frames.map(({ data }) => data.text_delta ?? '');
  return { status, requests: model.requests, failure: machine.snapshot.context.failure, said: deltas.join('') };
}

/** A call that the service answers, so that the model is asked again. */
const CALL = { id: 'call_1', name: 'nothing_of_the_kind', arguments: '{}' };

test('MODEL-5, CHAT-17: the model is asked again with the answers to its calls, and what it says without a call ends the turn', async (t) => {
  const turn = await ended(t, (asked) => (asked === 1 ? { text: 'Let me see. ', toolCalls: [CALL] } : { text: 'It is here.' }));
  assert.deepEqual([turn.status, turn.said], ['completed', 'Let me see. It is here.']);
  assert.deepEqual(
    turn.requests.map(({ messages }) => messages.map(({ role }) => role)),
    [['user'], ['user', 'assistant', 'tool']],
  );
});

test('MODEL-5, CHAT-20: after six rounds the model is not asked again; what it said stays, and without a word the turn has failed', async (t) => {
  const talking = await ended(t, () => ({ text: 'Let me see. ', toolCalls: [CALL] }));
  assert.deepEqual([talking.status, talking.requests.length, talking.said], ['completed', 6, 'Let me see. '.repeat(6)]);
  const silent = await ended(t, () => ({ toolCalls: [CALL] }));
  assert.deepEqual([silent.status, silent.requests.length, silent.failure?.code], ['error', 6, 'internal']);
});

test('CHAT-20: an empty answer fails the turn, which may be tried again', async (t) => {
  const { status, requests, failure } = await ended(t, () => ({}));
  assert.deepEqual([status, requests.length, failure?.code, failure?.retryable], ['error', 1, 'internal', true]);
});

test('LIMIT-18: once the rounds have cost the budget of the day, the model is not asked again', async (t) => {
  const say = () => ({ text: 'Let me see. ', toolCalls: [CALL] });
  const { status, requests, failure, said } = await ended(t, say, { daily_model_budget_usd: 0.000_001 });
  assert.deepEqual([status, requests.length, failure?.code, failure?.retryable], ['error', 1, 'quota_exceeded', false]);
  assert.equal(said, 'Let me see. ');
});

test('MODEL-16, CHAT-21: a failure of the model ends the turn; a busy one can be tried again soon, unless something was said', async (t) => {
  const failure = { kind: 'busy', detail: '429', retryAfterS: 7 } as const;
  const before = await ended(t, () => ({ failure }));
  assert.deepEqual([before.status, before.failure?.code, before.failure?.retryAfterS], ['error', 'model_busy', 7]);
  const after = await ended(t, () => ({ text: 'It is', failure }));
  assert.deepEqual([after.status, after.failure?.code, after.failure?.retryable, after.said], ['error', 'internal', true, 'It is']);
});
