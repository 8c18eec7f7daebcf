/** What a person hands to the agent, and who it turned out to be. */

import { createStore } from '@xstate/store';
import { useEffect } from 'preact/hooks';
import type { Command, SetupSession } from '../../../protocol/console/setup-answers.ts';
import { useStore } from '../../sdk/store-hook.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { Button, Problem } from '../parts/card.tsx';
import { timeLeft, useNow } from '../parts/clock-hook.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { agentName, isOver } from './session.ts';

type KeptCommand = Pick<Command, 'command' | 'code_expires_at'>;

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

const commands = createStore({
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
function watchCommand(id: string): () => void {
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

function useCommand(id: string): KeptCommand | undefined {
  useEffect(() => watchCommand(id), [id]);
  return useStore(commands, (context) => context.commands[id]);
}

export function CommandCard({ session }: { readonly session: SetupSession }) {
  const command = useCommand(session.id);
  const name = agentName(session);
  // The first file was fetched: what is kept of its command is used up.
  useEffect(() => {
    if (isOver(session)) keepCommand(session.id, undefined);
  }, [session.closed_at]);
  if (isOver(session)) return null;
  return (
    <section class="card" aria-label="Your agent">
      <h2>
        <span class="setup-agent">{name ?? 'Waiting for your agent'}</span>
        <StateChip state={name === undefined ? 'not_connected' : 'connected'} />
      </h2>
      <div class="card-body">
        {command !== undefined && <CommandLine command={command} />}
        {command === undefined && name === undefined && (
          <p class="hint">
            The command is shown where the session was opened, and only there. Create a new one to run it from here; an unused one stops
            working.
          </p>
        )}
        <NewCode session={session} isFirst={command === undefined && name === undefined} />
      </div>
    </section>
  );
}

function CommandLine({ command: { command, code_expires_at: until } }: { readonly command: KeptCommand }) {
  const left = Date.parse(until) - useNow();
  const isUsable = left > 0;
  return (
    <>
      <p>Run this where your agent works, in the repository of your app. Then tell the agent to read the file and to follow it.</p>
      <pre class="setup-command" data-usable={isUsable}>
        <code>{command}</code>
      </pre>
      <div class="row">
        <CopyButton text={command} label="Copy the command" primary />
        <span class={isUsable ? 'hint' : 'fault'} role="timer">
          {isUsable ? `Works once, for another ${timeLeft(left)}` : 'It has expired. Create a new one.'}
        </span>
      </div>
    </>
  );
}

function NewCode({ session, isFirst }: { readonly session: SetupSession; readonly isFirst: boolean }) {
  const act = useAct();
  const renew = () =>
    act.run(async () => keepCommand(session.id, await ask<Command>('POST', `/sessions/${encodeURIComponent(session.id)}/code`)));
  return (
    <>
      <div class="row">
        <Button
          label={session.agent === null ? 'Create new command' : 'Reconnect agent'}
          look={isFirst ? 'primary' : ''}
          disabled={act.isUnderWay}
          onClick={renew}
        />
        {session.agent !== null && (
          <span class="hint">
            Creates a new command, for an agent that lost its file. The agent stays connected until that command is used.
          </span>
        )}
      </div>
      <Problem error={act.error} retry={renew} />
    </>
  );
}
