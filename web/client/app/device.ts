/** The id of this installation: minted once and kept. */
import type { Log } from '../log.ts';
import type { KeptValues } from '../surroundings.ts';

const DEVICE = /^[0-9a-f]{32}$/;

/** 32 lowercase hex characters, the same over reloads where values can be kept. Never rejects. */
export async function deviceId(kept: KeptValues, name: string, mintUuid: () => string, log: Log): Promise<string> {
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
