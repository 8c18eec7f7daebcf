/**
 * Answers the other nodes about conversations that this node owns: hands over idle ones, opens and stops turns of busy ones, and relays those
 * turns.
 */
import type { Logger } from 'pino';
import { plainRefusal, Refusal } from '../../../protocol/errors.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import { readConversation } from '../../../storage/conversations/conversations.ts';
import { readTurn } from '../../../storage/conversations/turns.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Command } from '../../turns/command.ts';
import { type ConversationSnapshot, snapshotOf } from '../../turns/epoch.ts';
import type { TurnHost } from '../../turns/host.ts';
import type { LocalTurns } from '../../turns/local-turns.ts';
import type { Members } from '../nodes/members.ts';
import type { WireCommand } from '../questions/asks.ts';
import type { Line } from '../questions/line.ts';
import type { NodeQuestions } from '../questions/node-questions.ts';
import type { Outcome } from './relay-lines.ts';
import { feedTurn } from './turn-feed.ts';

export interface TurnAnswerServices {
  readonly storage: Pick<Storage, 'organisation'>;
  readonly questions: NodeQuestions;
  readonly members: Pick<Members, 'self'>;
  readonly local: LocalTurns;
  readonly log: Logger;
}

/** Answers the questions of other nodes about turns. `host` opens a turn, wherever its conversation is by then. */
export function answerForTurns(services: TurnAnswerServices, host: Pick<TurnHost, 'accept' | 'stop'>): void {
  const { local, log, questions } = services;
  questions.answer('openTurn', async ({ command, conversationId }) => {
    if (conversationId !== null && !local.isActive(conversationId)) {
      return { answer: { outcome: 'released', snapshot: release(services, command.caller.organisationId, conversationId) } };
    }
    // The outcome follows on the line, because the turn may have to wait for earlier ones.
    return { answer: { outcome: 'accepted' }, follow: (line) => void openTurn(services, host, command, line) };
  });
  questions.answer('followTurn', async ({ organisationId, conversationId, turn }) => {
    const attempt = local.running(conversationId, turn);
    if (attempt !== undefined) return { answer: { outcome: 'following' }, follow: (line) => feedTurn(line, attempt.log, log) };
    const snapshot = local.isActive(conversationId) ? null : release(services, organisationId, conversationId);
    return { answer: { outcome: 'idle', snapshot } };
  });
  questions.answer('stopTurn', async ({ turnId, ...caller }) => ({ answer: { stopped: await host.stop(caller, turnId) } }));
  questions.answer('withdrawTurn', async ({ turnId, ...caller }) => ({ answer: { withdrawn: local.withdraw(caller, turnId) } }));
}

/** Hands the conversation over to the asker. Null when this node does not own it. */
function release({ storage, members }: TurnAnswerServices, organisationId: string, conversationId: string): ConversationSnapshot | null {
  const db = storage.organisation(organisationId);
  const row = readConversation(db, conversationId);
  return row === undefined || row.owner !== members.self ? null : snapshotOf(db, row);
}

async function openTurn(
  { log, storage }: TurnAnswerServices,
  host: Pick<TurnHost, 'accept'>,
  command: WireCommand,
  line: Line,
): Promise<void> {
  try {
    const db = storage.organisation(command.caller.organisationId);
    const { conversationId, position } = await host.accept(unpacked(db, command));
    const row = readTurn(db, command.caller.appId, command.turnId);
    if (row === undefined) throw new Error('a turn was opened and is not there');
    line.send(['placed', { conversationId, turn: row.turn, fromSeq: position.fromSeq }] satisfies Outcome);
    feedTurn(line, position.source, log);
  } catch (error) {
    if (!(error instanceof Refusal))
      log.error(
        { err: error, request_id: command.requestId },
        'opening a turn for another node failed: that node tells its client to try again',
      );
    const bug = new Refusal('internal', 'Something went wrong on our side. Send the same turn again.');
    line.send(['refused', plainRefusal(error instanceof Refusal ? error : bug)] satisfies Outcome);
    line.end();
  }
}

/** @throws Refusal when the app is gone. */
function unpacked(db: ReturnType<Storage['organisation']>, { caller, ...command }: WireCommand): Command {
  const app = readApp(db, caller.appId, caller.organisationId);
  if (app === undefined) throw new Refusal('invalid_key', 'The app of this key no longer exists.');
  const { minuteLeft } = caller;
  return { ...command, caller: { ...caller, app, minuteLeft: minuteLeft === null ? null : () => minuteLeft } };
}
