/**
 * What this node does for others that reached a conversation of its own: hands over what is idle, opens and stops turns where it
 * is busy, and sends their frames.
 */
import type { Logger } from 'pino';
import { plainRefusal, Refusal } from '../../../protocol/errors.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import { readConversation } from '../../../storage/conversations/conversations.ts';
import { readTurn } from '../../../storage/conversations/turns.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { FrameSource } from '../../frame-source.ts';
import type { TurnCommand } from '../../turns/command.ts';
import { type ConversationSnapshot, snapshotOf } from '../../turns/epoch.ts';
import type { TurnHost } from '../../turns/host.ts';
import type { LocalTurns } from '../../turns/local-turns.ts';
import type { Bus } from '../bus/bus.ts';
import type { Asks, WireCommand } from '../bus/messages.ts';
import type { Members } from '../nodes/members.ts';
import { TurnFeeds } from './turn-feed.ts';

export interface TurnDeskServices {
  readonly storage: Pick<Storage, 'organisation'>;
  readonly bus: Bus;
  readonly members: Pick<Members, 'onLost'>;
  readonly local: LocalTurns;
  /** Opens what is asked for, wherever it has to be by then. */
  readonly host: Pick<TurnHost, 'accept' | 'stop'>;
  readonly log: Logger;
}

type OpenAsk = Asks['openTurn']['ask'];
type OpenAnswer = Asks['openTurn']['answer'];
type FollowAsk = Asks['followTurn']['ask'];
type FollowAnswer = Asks['followTurn']['answer'];

export class TurnDesk {
  readonly #services: TurnDeskServices;
  readonly #feeds: TurnFeeds;

  constructor(services: TurnDeskServices) {
    this.#services = services;
    const { bus, members, log, host } = services;
    this.#feeds = new TurnFeeds({ tell: (reader, frames) => bus.tell(reader, 'frames', frames), log });
    bus.answer('openTurn', (ask) => this.#openTurn(ask));
    bus.answer('followTurn', (ask) => this.#followTurn(ask));
    bus.answer('stopTurn', async ({ turnId, ...caller }) => ({ stopped: await host.stop(caller, turnId) }));
    bus.answer('withdrawTurn', async ({ turnId, ...caller }) => ({ withdrawn: this.#services.local.withdraw(caller, turnId) }));
    bus.hear('unfollow', ({ reader, stream }) => this.#feeds.drop(reader, stream));
    bus.hear('lagging', ({ reader, stream, isLagging }) => this.#feeds.lag(reader, stream, isLagging));
    members.onLost((node) => this.#feeds.dropNode(node));
    // What was told meanwhile is lost, and who reads here may have no other sign of it.
    bus.onReconnected(() => this.#feeds.resound());
  }

  /** Streams that others read here. */
  get feeds(): number {
    return this.#feeds.count;
  }

  async #openTurn(ask: OpenAsk): Promise<OpenAnswer> {
    const { command, conversationId } = ask;
    if (conversationId !== null && !this.#services.local.isActive(conversationId)) {
      return { outcome: 'released', snapshot: this.#release(command.organisationId, conversationId) };
    }
    // The answer is that it will be done; what comes of it is told, because a turn may wait for others before it.
    void this.#open(ask);
    return { outcome: 'accepted' };
  }

  async #followTurn({ organisationId, conversationId, turn, reader, stream, fromSeq }: FollowAsk): Promise<FollowAnswer> {
    const { local } = this.#services;
    const run = local.running(conversationId, turn);
    if (run !== undefined) {
      this.#feeds.feed(reader, stream, run.log, fromSeq);
      return { outcome: 'following' };
    }
    return { outcome: 'idle', snapshot: local.isActive(conversationId) ? null : this.#release(organisationId, conversationId) };
  }

  /** From now on it is the asker's. Null when it is not this node's to give. */
  #release(organisationId: string, conversationId: string): ConversationSnapshot | null {
    const db = this.#services.storage.organisation(organisationId);
    const row = readConversation(db, conversationId);
    return row === undefined || row.owner !== this.#services.bus.self ? null : snapshotOf(db, row);
  }

  async #open({ command, reader, stream }: OpenAsk): Promise<void> {
    const { bus, host, log, storage } = this.#services;
    try {
      const db = storage.organisation(command.organisationId);
      const { conversationId, position } = await host.accept(this.#unpacked(command));
      const row = readTurn(db, command.appId, command.turnId);
      if (row === undefined) throw new Error('a turn was opened and is not there');
      const { source, fromSeq } = position;
      bus.tell(reader, 'turnPlaced', { stream, conversationId, turn: row.turn, fromSeq });
      this.#feed(reader, stream, source, fromSeq);
    } catch (error) {
      if (!(error instanceof Refusal))
        log.error({ err: error, request_id: command.requestId }, 'a turn could not be opened for another node');
      const refusal =
        error instanceof Refusal ? error : new Refusal('internal', 'Something went wrong on our side. Send the same turn again.');
      bus.tell(reader, 'turnRefused', { stream, refusal: plainRefusal(refusal) });
    }
  }

  /** Its reader knows where the turn is, and reads it from rows when it cannot be sent. */
  #feed(reader: string, stream: number, source: FrameSource, fromSeq: number): void {
    try {
      this.#feeds.feed(reader, stream, source, fromSeq);
    } catch (error) {
      this.#services.log.warn({ err: error }, 'a turn is not sent to the node that asked for it');
    }
  }

  /** @throws Refusal when the app is gone. */
  #unpacked({ appId, minuteLeft, ...command }: WireCommand): TurnCommand {
    const app = readApp(this.#services.storage.organisation(command.organisationId), appId, command.organisationId);
    if (app === undefined) throw new Refusal('invalid_key', 'The app of this key no longer exists.');
    return { ...command, app, minuteLeft: minuteLeft === null ? null : () => minuteLeft };
  }

  close(): void {
    this.#feeds.close();
  }
}
