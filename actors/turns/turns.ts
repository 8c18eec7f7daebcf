/**
 * The door to turns: the gateway asks here, and learns nothing of mailboxes, machines, fences or nodes. Puts the person's own data back for
 * the device that reads; those who watch a device get placeholders.
 */

import { PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import type { Announcements, Announcer } from '../announcements.ts';
import type { Caller } from '../caller.ts';
import { changedSource, type Position } from '../frame-source.ts';
import type { Command } from './command.ts';
import type { HostedTurn, TurnHost } from './host.ts';

/** A turn that a watched device has opened, or came back to. */
export interface WatchedTurn {
  readonly turnId: string;
  readonly conversationId: string;
  readonly position: Position;
}

export interface WatchedDevice {
  readonly organisationId: string;
  readonly appId: string;
  readonly deviceId: string;
}

type Listener = (turn: WatchedTurn) => void;

function keyOf({ appId, deviceId }: Pick<WatchedDevice, 'appId' | 'deviceId'>): string {
  return `${appId} ${deviceId}`;
}

export interface TurnsOptions {
  readonly host: TurnHost;
  readonly others: Announcer;
}

export class Turns {
  /** Where turns run. */
  readonly host: TurnHost;
  readonly #others: Announcer;
  /** Those who watch a device, by app and device. Pairings are few, and their own limits bound them. */
  readonly #watchers = new Map<string, Set<Listener>>();

  constructor({ host, others }: TurnsOptions) {
    this.host = host;
    this.#others = others;
    others.listen('turnOpened', (turn) => void this.#watched(turn));
  }

  /** Opens a turn, or attaches to it when its turn_id was sent before. @throws Refusal, which the stream tells. */
  async openTurn(command: Command): Promise<Position> {
    const { caller, person, turnId } = command;
    const turn = await this.host.accept(command);
    if (caller.channel === 'sandbox') {
      const { appId, deviceId, organisationId } = caller;
      const opened = { organisationId, appId, deviceId, turnId, conversationId: turn.conversationId };
      void this.#watched(opened, person?.verified === true ? person.externalUserId : null);
      this.#others.announce('turnOpened', opened);
    }
    // Callers without a device are alike: any of them could ask for what another one said.
    const isKnown = caller.deviceId !== '' || person?.verified === true;
    return isKnown ? restored(turn) : turn.position;
  }

  /** Tells the watchers of a device about a turn that it opened, here or at another node. They read it on their own. */
  async #watched(opened: Announcements['turnOpened'], person: string | null = null): Promise<void> {
    const { organisationId, appId, deviceId, turnId } = opened;
    if (!this.#watchers.has(keyOf(opened))) return;
    try {
      const caller: Caller = { organisationId, appId, channel: 'sandbox', deviceId, person };
      const { conversationId, position } = await this.host.attach(caller, turnId);
      for (const listener of this.#watchers.get(keyOf(opened)) ?? []) listener({ turnId, conversationId, position });
    } catch {
      // Watching is only for tests, and the next turn of the device is announced again.
    }
  }

  /** Tells of each turn that the device opens on the app's test channel from now on. Answers how to stop that. */
  watchDevice(device: WatchedDevice, listener: Listener): () => void {
    const key = keyOf(device);
    const listeners = this.#watchers.get(key) ?? new Set();
    listeners.add(listener);
    this.#watchers.set(key, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#watchers.get(key) === listeners) this.#watchers.delete(key);
    };
  }

  /** Re-attaches to a turn; the same answer when there is none and when it is a stranger's. @throws Refusal 404. */
  async attachTurn(caller: Caller, turnId: string): Promise<Position> {
    return restored(await this.host.attach(caller, turnId));
  }

  /** Stops a running turn; false when it had ended already. @throws Refusal 404. */
  stopTurn(caller: Caller, turnId: string): Promise<boolean> {
    return this.host.stop(caller, turnId);
  }
}

/** A position whose reader is the device that owns the conversation. */
function restored({ position: { source, fromSeq }, restoreJson }: HostedTurn): Position {
  return { source: changedSource(source, (text) => (text.includes(PLACEHOLDER_OPENS) ? restoreJson(text) : text)), fromSeq };
}
