/** Small facts about this installation, by name; in `control.sqlite`. */
import type { Connection } from './connection.ts';

export function readInstallation(control: Connection, name: string): string | undefined {
  return control.statement('SELECT value FROM installation WHERE name = :name').get({ name })?.value as string | undefined;
}

export const transactions = {
  noteInstallation(db: Connection, input: { name: string; value: string }): void {
    db.statement('INSERT INTO installation (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = :value').run(
      input,
    );
  },
};
