/** The apps that there are, for pages about one of them. */
import { useEffect, useState } from 'preact/hooks';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';

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
