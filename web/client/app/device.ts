/** The id of this installation: minted once and kept. */
import type { Log } from '../log.ts';
import type { Surroundings } from '../surroundings.ts';

const DEVICE = /^[0-9a-f]{32}$/;

type Place = Pick<Surroundings, 'kept' | 'mintUuid' | 'tabs'>;

async function readOrMint({ kept, mintUuid }: Place, name: string, log: Log): Promise<string> {
  const minted = mintUuid().replaceAll('-', '').toLowerCase();
  try {
    const before = await kept.read(name);
    if (before !== null && DEVICE.test(before)) return before;
    await kept.write(name, minted);
  } catch (error) {
    log.say('warn', 'storage_error', { error });
  }
  return minted;
}

/** 32 lowercase hex characters, the same in all tabs, and over reloads where values can be kept. Never rejects. */
export function deviceId(place: Place, name: string, log: Log): Promise<string> {
  const { tabs } = place;
  if (tabs === undefined) return readOrMint(place, name, log);
  // One tab after the other: opened together they would each mint their own.
  return new Promise((resolve) => {
    const resign = tabs.elect(name, () => {
      void readOrMint(place, name, log).then((device) => {
        resign();
        resolve(device);
      });
    });
  });
}
