/** Which machine an id is of: ids that the service mints say it by how they begin. */

const MACHINE_OF_PREFIX: Readonly<Record<string, string>> = {
  ses: 'setup-session',
  kno: 'knowledge-source',
  pai: 'pairing',
  app: 'app-lifecycle',
  inv: 'invocation',
};

/** The machine of an instance with this id; undefined for a turn, whose id its client chose, and for whatever else somebody typed. */
export function machineOfId(id: string): string | undefined {
  const prefix = id.slice(0, Math.max(0, id.indexOf('_')));
  return Object.hasOwn(MACHINE_OF_PREFIX, prefix) ? MACHINE_OF_PREFIX[prefix] : undefined;
}
