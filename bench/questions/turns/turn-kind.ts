/**
 * What a kind of turns is: what has to be there before the clock starts, what a client sends and answers, what has to come. Holds the plain
 * turn of W3, beside which the others are measured.
 */

import type { ReadTurn, TurnClient } from '../../load/turn-client.ts';
import { type Asker, mintDevice } from '../../loadtest/service-api.ts';
import type { Console, LiveApp } from '../../servers/service.ts';

/** A running service with an app in it that has nothing yet. */
export interface TurnStage {
  readonly app: LiveApp;
  readonly streams: number;
  /** A look at the rig: less is prepared. */
  readonly quick: boolean;
  readonly operator: Console;
  client(): TurnClient;
  /** Works on the organisation's file while the service is stopped, and starts it again with this model. */
  withFile(model: string, work: (file: string) => void): Promise<void>;
  /** What the app's client draws. */
  readonly components: ReadonlySet<string>;
}

/** Milliseconds from sending the message. */
export interface TurnTimes {
  readonly firstMs: number;
  /** Until the whole answer was read; after a read action until the continuation was. */
  readonly wholeMs: number;
}

/** One turn of the stream of this number. @throws Error that says why it was not whole */
export type PlayTurn = (client: TurnClient, stream: number) => Promise<TurnTimes>;

export interface TurnKind {
  readonly name: string;
  readonly what: string;
  readonly model: string;
  /** Requests to the model in one turn, a continuation included. */
  readonly rounds: number;
  /** What its client draws beside what clients of the server draw. */
  readonly components: readonly string[];
  /** The model while the kind is prepared, where it is another one. */
  readonly preparedBy?: string;
  /** What a round may cost, as a multiple of W3's turn; undefined: it is W3. */
  readonly target: number | undefined;
  /** About how long starting its server and preparing it take. */
  readonly preparedInS: number;
  prepare(stage: TurnStage): Promise<PlayTurn>;
}

/** A token of the fake model, and the end. */
export const ONE_TOKEN = 'text 4, completed';
export const HELLO = { message: { text: 'Hello' } };

/** Times of a turn that was over when `last` was read. */
export function timesOf({ sentAtMs, firstDeltaAtMs }: ReadTurn, { endedAtMs }: ReadTurn): TurnTimes {
  return { firstMs: firstDeltaAtMs - sentAtMs, wholeMs: endedAtMs - sentAtMs };
}

/** A device for each stream, as each connection of the load client is one. */
export function askersOf({ app, streams }: TurnStage, manifestHash?: string): readonly Asker[] {
  return Array.from({ length: streams }, () => ({ key: app.liveKey, device: mintDevice(), manifestHash }));
}

/** The one of them that sends the turns of this stream. */
export function askerOf(askers: readonly Asker[], stream: number): Asker {
  return askers[stream % askers.length] as Asker;
}

export const PLAIN: TurnKind = {
  name: 'W3',
  what: '1-token turns',
  model: 'fake-1-0',
  rounds: 1,
  components: [],
  target: undefined,
  preparedInS: 2,
  async prepare(stage) {
    const askers = askersOf(stage);
    return async (client, stream) => {
      const request = { asker: askerOf(askers, stream), components: stage.components, conversationId: undefined, say: HELLO };
      const turn = await client.turn(request, ONE_TOKEN);
      return timesOf(turn, turn);
    };
  },
};
