/** The newest instances of an app, as `GET /apps/:app/traces/newest` lists them. */
export interface NewestTrace {
  readonly machine: string;
  readonly instance: string;
  /** Where it is; null where only its trace would say. */
  readonly state: string | null;
  readonly at_ms: number;
}

/** Where its steps are shown. */
export function newestAddress(app: string, { machine, instance }: NewestTrace): string {
  const value = encodeURIComponent(instance);
  const query = machine === 'chat-turn' ? `turn_id=${value}` : `machine=${encodeURIComponent(machine)}&instance=${value}`;
  return `/console/traces/${encodeURIComponent(app)}?${query}`;
}
