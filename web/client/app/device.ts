/** The id of this installation: minted once and kept, until a person leaves it (CLIENT-25). */
import type { Log } from '../log.ts';
import type { Surroundings } from '../surroundings.ts';
import type { TurnUser } from './person.ts';

const DEVICE = /^[0-9a-f]{32}/;
const DEVICE_CHARS = 32;

type Place = Pick<Surroundings, 'kept' | 'mintUuid' | 'tabs'>;

/** What is kept is the device's id, and right behind it the id of the person who was signed in on it last. */
async function readOrMint({ kept, mintUuid }: Place, name: string, user: TurnUser, log: Log, bound?: string): Promise<string> {
  let device = bound ?? mintUuid().replaceAll('-', '').toLowerCase();
  try {
    const before = (await kept.read(name)) ?? '';
    const person = before.slice(DEVICE_CHARS);
    const now = user === undefined ? person : (user?.id ?? '');
    if (bound === undefined && DEVICE.test(before) && (person === '' || person === now)) device = before.slice(0, DEVICE_CHARS);
    if (before !== device + now) await kept.write(name, device + now);
  } catch (error) {
    log.say('warn', 'storage_error', { error });
  }
  return device;
}

/**
 * 32 lowercase hex characters, the same in all tabs, and over reloads where values can be kept. Another one once nobody is `user` any more, or
 * somebody else: what a person said stays with the device that they said it on. `user` undefined: the app does not say. `bound`: this
 * device, which the service has bound to `user`. Never rejects.
 */
export function deviceId(place: Place, name: string, user: TurnUser, log: Log, bound?: string): Promise<string> {
  const { tabs } = place;
  if (tabs === undefined) return readOrMint(place, name, user, log, bound);
  // One tab after the other: opened together they would each mint their own.
  return new Promise((resolve) => {
    const resign = tabs.elect(name, () => {
      void readOrMint(place, name, user, log, bound).then((device) => {
        resign();
        resolve(device);
      });
    });
  });
}
