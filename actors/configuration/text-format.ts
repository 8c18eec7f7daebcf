/** Counts and lists of names as text, for panel lines, summaries and messages. */

const NAMES_IN_A_LINE = 4;

/** `1 source`, `2 sources`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `a, b and 3 more`. */
export function listed(names: readonly string[]): string {
  const more = names.length - NAMES_IN_A_LINE;
  return more > 0 ? `${names.slice(0, NAMES_IN_A_LINE).join(', ')} and ${more} more` : names.join(', ');
}

/** `2 created, 1 failed`, leaving out what there is none of. */
export function tally(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []));
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}
