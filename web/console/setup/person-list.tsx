/** What only a person can do, as it comes up while the agent works. */

import { useEffect } from 'preact/hooks';
import type { AppStatus, SetupSession } from '../../../protocol/console/setup-answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { Card } from '../parts/card.tsx';
import { textsOf } from './session.ts';

interface Todo {
  readonly text: string;
  readonly href?: string;
}

function counted(count: number, one: string, many: string): string {
  return count === 1 ? `1 ${one}` : `${count} ${many}`;
}

function todosOf(app: string, isLive: boolean, status: AppStatus | undefined, waiting: number, session: SetupSession): readonly Todo[] {
  const at = (section: string) => `/console/apps/${encodeURIComponent(app)}/${section}`;
  const needsKey = status?.facts.httpActions.needsKey ?? 0;
  const failed = status?.facts.knowledge.failed ?? 0;
  const own = textsOf(session.outcome?.human_todos).map((text) => ({ text }));
  return [
    ...(needsKey > 0 ? [{ text: `Enter a key for ${counted(needsKey, 'action', 'actions')}`, href: at('actions') }] : []),
    ...(waiting > 0 ? [{ text: `Decide about ${counted(waiting, 'proposal', 'proposals')}`, href: at('proposals') }] : []),
    ...(failed > 0 ? [{ text: `${counted(failed, 'source', 'sources')} could not be read`, href: at('knowledge') }] : []),
    ...(!isLive && status?.go_live.every(({ ok }) => ok) === true
      ? [{ text: 'Every check passes: see what people will get', href: at('go-live') }]
      : []),
    ...own,
  ];
}

interface PersonListProps {
  readonly app: string;
  readonly isLive: boolean;
  readonly session: SetupSession;
}

export function PersonList({ app, isLive, session }: PersonListProps) {
  const path = `/apps/${encodeURIComponent(app)}`;
  const status = useAsked<AppStatus>(`${path}/status`);
  const proposals = useAsked<{ readonly proposals: readonly unknown[] }>(`${path}/proposals?status=pending`);
  // Asked again when a step moved, and not at every line.
  const moved = session.steps.map(({ state }) => state).join();
  useEffect(() => {
    status.reload();
    proposals.reload();
  }, [moved, session.status]);
  const todos = todosOf(app, isLive, status.answer, proposals.answer?.proposals.length ?? 0, session);
  return (
    <Card title="For you to do">
      {todos.length === 0 ? (
        <p class="card-empty">Nothing yet. What only a person can do, such as entering a key, comes up here.</p>
      ) : (
        <ul class="setup-todos">
          {todos.map(({ text, href }) => (
            <li key={text}>{href === undefined ? text : <a href={href}>{text}</a>}</li>
          ))}
        </ul>
      )}
    </Card>
  );
}
