/** How far a long command is, for the person who waits. */
import type { ProgressLog } from '../../storage/backup/backup.ts';
import type { Call } from './command.ts';

/** Progress messages on standard error. */
export function progress({ note }: Call): ProgressLog {
  const told = (facts: object, text: string) => {
    const details = Object.entries(facts).map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : value}`);
    note(details.length === 0 ? text : `${text} (${details.join('; ')})`);
  };
  return { info: told, warn: (facts, text) => told(facts, `Warning: ${text}`) };
}
