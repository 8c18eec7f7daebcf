/** Answers the other nodes about turns of conversations that this node owns: opens them, relays them, and stops them. */
import type { Logger } from 'pino';
import { plainRefusal, Refusal } from '../../../protocol/errors.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Command } from '../../turns/command.ts';
import type { TurnHost } from '../../turns/host.ts';
import type { LocalTurns } from '../../turns/local-turns.ts';
import type { Asks, Outcome, WireCommand } from '../questions/asks.ts';
import type { Line } from '../questions/line.ts';
import type { NodeQuestions } from '../questions/node-questions.ts';
import { feedTurn } from './turn-feed.ts';

export interface TurnAnswerServices {
  readonly storage: Pick<Storage, 'organisation'>;
  readonly questions: NodeQuestions;
  readonly local: LocalTurns;
  readonly log: Logger;
}

type Host = Pick<TurnHost, 'accept' | 'attach' | 'stop'>;

/** Answers the questions of other nodes about turns. `host` finds a turn, wherever its conversation is by then. */
export function answerForTurns(services: TurnAnswerServices, host: Host): void {
  const { local, questions } = services;
  questions.answer('turn', async ({ turn, conversationId }) => {
    if (conversationId !== null && !local.isActive(conversationId)) return { answer: 'idle' };
    // The outcome follows on the line, because the turn may have to wait for earlier ones.
    return { answer: 'accepted', follow: (line) => void relayTurn(services, host, turn, line) };
  });
  questions.answer('stopTurn', async ({ caller, turnId, waiting }) => ({
    answer: { stopped: waiting ? local.withdraw(caller, turnId) : await host.stop(caller, turnId) },
  }));
}

async function relayTurn({ log, storage }: TurnAnswerServices, host: Host, asked: Asks['turn']['ask']['turn'], line: Line): Promise<void> {
  try {
    const { conversationId, position } =
      'command' in asked ? await host.accept(unpacked(storage, asked.command)) : await host.attach(asked.caller, asked.turnId);
    line.send(['placed', { conversationId, fromSeq: position.fromSeq }] satisfies Outcome);
    feedTurn(line, position.source, log);
  } catch (error) {
    if (!(error instanceof Refusal)) {
      const about = 'command' in asked ? { request_id: asked.command.requestId } : { turn_id: asked.turnId };
      log.error({ err: error, ...about }, 'opening a turn for another node failed: that node tells its client to try again');
    }
    const bug = new Refusal('internal', 'Something went wrong on our side. Send the same turn again.');
    line.send(['refused', plainRefusal(error instanceof Refusal ? error : bug)] satisfies Outcome);
    line.end();
  }
}

/** @throws Refusal when the app is gone. */
function unpacked(storage: TurnAnswerServices['storage'], { caller, ...command }: WireCommand): Command {
  const app = readApp(storage.organisation(caller.organisationId), caller.appId, caller.organisationId);
  if (app === undefined) throw new Refusal('invalid_key', 'The app of this key no longer exists.');
  const { minuteLeft } = caller;
  return { ...command, caller: { ...caller, app, minuteLeft: minuteLeft === null ? null : () => minuteLeft } };
}
