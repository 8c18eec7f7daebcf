/** The id of this installation: minted once and kept, until a person leaves it (CLIENT-25). */
import type { Log } from '../log.ts';
import type { Surroundings, Tabs } from '../surroundings.ts';

const DEVICE = /^[0-9a-f]{32}/;
const DEVICE_CHARS = 32;

type Place = Pick<Surroundings, 'kept' | 'mintUuid' | 'tabs'>;

export interface Device {
  /** 32 lowercase hex characters. */
  readonly id: string;
  /** Id of the person whom it is bound to, or may be; '': nobody. */
  readonly holder: string;
  /** It takes the place of one that somebody else held. */
  readonly isAnother?: boolean;
}

/** What is kept is the device's id, and right behind it the id of its holder. */
async function readOrMint({ kept, mintUuid }: Place, name: string, log: Log, holder: string | undefined, own?: string): Promise<Device> {
  let id = own ?? mintUuid().replaceAll('-', '').toLowerCase();
  try {
    const before = (await kept.read(name)) ?? '';
    const last = before.slice(DEVICE_CHARS);
    const now = holder ?? last;
    const isAnother = own === undefined && last !== '' && last !== now;
    if (own === undefined && !isAnother && DEVICE.test(before)) id = before.slice(0, DEVICE_CHARS);
    if (before !== id + now) await kept.write(name, id + now);
    return { id, holder: now, isAnother };
  } catch (error) {
    log.say('warn', 'storage_error', { error });
    return { id, holder: holder ?? '' };
  }
}

/** Does `work`, which never rejects, one tab after the other. */
export function alone<Value>(tabs: Tabs | undefined, name: string, work: () => Promise<Value>): Promise<Value> {
  if (tabs === undefined) return work();
  return new Promise((resolve) => {
    const resign = tabs.elect(name, () => {
      void work().then((value) => {
        resign();
        resolve(value);
      });
    });
  });
}

/**
 * The same device in all tabs, and over reloads where values can be kept; another one where its holder is not `holder` any more: what a
 * person said stays with the device that they said it on. `holder` undefined: the app does not say. `own`: this device goes on, whoever held
 * it. Never rejects.
 */
export function deviceOf(place: Place, name: string, log: Log, holder: string | undefined, own?: string): Promise<Device> {
  // Tabs opened together would each mint their own.
  return alone(place.tabs, name, () => readOrMint(place, name, log, holder, own));
}
