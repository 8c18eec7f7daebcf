/** Finds what an id of a log line or of an answer is of, and where the steps of what is found are shown. */

import { useEffect, useState } from 'preact/hooks';
import { machineOfId } from '../../../machines/instance-ids.ts';
import type { NewestTrace } from '../../../protocol/console/answers.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import { ApiError } from '../api/request.ts';

export interface AppChoice {
  readonly id: string;
  readonly name: string;
}

interface OrganisationsAnswer {
  readonly orgs: readonly { readonly id: string }[];
}

const ORGANISATIONS_READ = 50;

export function useApps(): readonly AppChoice[] | undefined {
  const { answer } = useAsked<OrganisationsAnswer>(`/orgs?limit=${ORGANISATIONS_READ}`);
  const [apps, hold] = useState<readonly AppChoice[]>();
  useEffect(() => {
    if (answer === undefined) return undefined;
    const aborted = new AbortController();
    const read = ({ id }: { readonly id: string }) =>
      ask<{ readonly apps: readonly AppChoice[] }>('GET', `/orgs/${encodeURIComponent(id)}/apps`, undefined, aborted.signal);
    // One that is away leaves the others to choose from.
    void Promise.allSettled(answer.orgs.map(read)).then((all) => {
      if (!aborted.signal.aborted) hold(all.flatMap((one) => (one.status === 'fulfilled' ? one.value.apps : [])));
    });
    return () => aborted.abort();
  }, [answer]);
  return apps;
}

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

/** What an instance of each machine is, in people's words. */
export const NAMES: Readonly<Record<string, string>> = {
  'chat-turn': 'Turn',
  'setup-session': 'Setup session',
  'step-panel': 'Panel',
  'knowledge-source': 'Source',
  pairing: 'Pairing',
  'app-lifecycle': 'App',
};
