/** Listeners to the turns that a device opens on its app's test channel, for the watches of pairings. */
import type { Position } from '../frame-source.ts';

/** A turn that a watched device has opened, or came back to. */
export interface WatchedTurn {
  readonly turnId: string;
  readonly conversationId: string;
  /** In placeholder form. */
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

export class DeviceWatchers {
  /** By app and device. Pairings are few, and their own limits bound them. */
  readonly #listeners = new Map<string, Set<Listener>>();

  watch(device: WatchedDevice, listener: Listener): () => void {
    const key = keyOf(device);
    const listeners = this.#listeners.get(key) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(key, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
    };
  }

  has(device: Pick<WatchedDevice, 'appId' | 'deviceId'>): boolean {
    return this.#listeners.has(keyOf(device));
  }

  tell(device: Pick<WatchedDevice, 'appId' | 'deviceId'>, turn: WatchedTurn): void {
    for (const listener of this.#listeners.get(keyOf(device)) ?? []) listener(turn);
  }
}
