/**
 * The commands that this browser was given: each is answered once, so they are kept for the minutes in which they work, for a page that is
 * loaded again and for other windows. They leave with the first sign of the agent.
 */
import { createStore } from '@xstate/store';
import type { Command } from '../../../protocol/console/setup-answers.ts';

export type KeptCommand = Pick<Command, 'command' | 'code_expires_at'>;

const PREFIX = 'console-setup-command:';

function read(sessionId: string): KeptCommand | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(PREFIX + sessionId) ?? 'null') as Partial<KeptCommand> | null;
    const { command, code_expires_at: until } = kept ?? {};
    if (typeof command !== 'string' || typeof until !== 'string') return undefined;
    return { command, code_expires_at: until };
  } catch {
    // A browser may refuse to keep anything: then the command is there until the page is left.
    return undefined;
  }
}

interface CommandContext {
  readonly commands: Readonly<Record<string, KeptCommand | undefined>>;
}

const NONE: CommandContext = { commands: {} };

export const commands = createStore({
  context: NONE,
  on: {
    came: (now, { id, command }: { id: string; command: KeptCommand | undefined }): CommandContext => ({
      commands: { ...now.commands, [id]: command },
    }),
  },
});

/** Keeps the command of a session; undefined forgets it. */
export function keepCommand(id: string, command: KeptCommand | undefined): void {
  commands.send({ type: 'came', id, command });
  try {
    if (command === undefined) localStorage.removeItem(PREFIX + id);
    else localStorage.setItem(PREFIX + id, JSON.stringify({ command: command.command, code_expires_at: command.code_expires_at }));
  } catch {}
}

/** Looks at what was kept of a session, now and whenever another window keeps something. Returns what ends it. */
export function watchCommand(id: string): () => void {
  const look = () => {
    const kept = read(id);
    if (kept !== undefined || commands.get().context.commands[id] !== undefined) commands.send({ type: 'came', id, command: kept });
  };
  const kept = read(id);
  if (kept !== undefined) commands.send({ type: 'came', id, command: kept });
  const changed = ({ key }: StorageEvent) => {
    if (key === PREFIX + id) look();
  };
  addEventListener('storage', changed);
  return () => removeEventListener('storage', changed);
}
