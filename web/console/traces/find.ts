/** Finds what an id of a log line or of an answer is of, and where the steps of what is found are shown. */
import { machineOfId } from '../../../machines/instance-ids.ts';
import type { NewestTrace } from '../../../protocol/console/answers.ts';
import { ask } from '../api/api.ts';
import { ApiError } from '../api/request.ts';
import type { AppChoice } from './app-hook.ts';

/** What may be meant by an id, the likely first: those that the service mints say what they are of. */
function queriesOf(id: string): string[] {
  const value = encodeURIComponent(id);
  const machine = machineOfId(id);
  if (machine !== undefined) return [`machine=${machine}&instance=${value}`];
  if (id.startsWith('cnv_')) return [`conversation_id=${value}`];
  return [`request_id=${value}`, `turn_id=${value}`];
}

/** The address of the first trace that has this id, in any of the apps; undefined: there is none. @throws ApiError */
export async function findTrace(apps: readonly AppChoice[], id: string): Promise<string | undefined> {
  for (const query of queriesOf(id)) {
    for (const app of apps) {
      try {
        await ask('GET', `/apps/${encodeURIComponent(app.id)}/traces?${query}`);
        return `/console/traces/${encodeURIComponent(app.id)}?${query}`;
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
      }
    }
  }
  return undefined;
}

export function newestAddress(app: string, { machine, instance }: NewestTrace): string {
  const value = encodeURIComponent(instance);
  const query = machine === 'chat-turn' ? `turn_id=${value}` : `machine=${encodeURIComponent(machine)}&instance=${value}`;
  return `/console/traces/${encodeURIComponent(app)}?${query}`;
}
