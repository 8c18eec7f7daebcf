/** One session on the page: left what a person does, right what the agent does. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AppStatus, Line, SetupSession } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import { follow } from '../api/follow.ts';
import type { ApiError } from '../api/request.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { SideBySide } from '../parts/choices.tsx';
import { timeLeft, useNow } from '../parts/clock-hook.ts';
import { StateChip } from '../parts/state-chip.tsx';
import { CommandCard, keepCommand } from './command-card.tsx';
import { LineList } from './line-list.tsx';
import { Outcome } from './outcome.tsx';
import { isOver, linesByStep, markOf, textsOf, withLines } from './session.ts';
import { StepList } from './step-list.tsx';

interface FollowedSession {
  readonly session: SetupSession | undefined;
  readonly lines: readonly Line[];
  readonly isLive: boolean;
  readonly error: ApiError | undefined;
}

const NOTHING: FollowedSession = { session: undefined, lines: [], isLive: false, error: undefined };

/** What comes within a picture's time is drawn at once: a session of thousands of lines is there in some pictures. */
const GATHERED_MS = 16;

function useSession(id: string): FollowedSession {
  const [followed, hold] = useState<{ readonly id: string } & FollowedSession>({ id, ...NOTHING });
  useEffect(() => {
    let waiting: Line[] = [];
    let latest: SetupSession | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const change = (part: Partial<FollowedSession>) => hold((before) => ({ ...(before.id === id ? before : { id, ...NOTHING }), ...part }));
    const flush = () => {
      timer = undefined;
      const lines = waiting;
      waiting = [];
      hold((before) => {
        const own = before.id === id ? before : { id, ...NOTHING };
        return { ...own, session: latest ?? own.session, lines: withLines(own.lines, lines) };
      });
    };
    const end = follow(`/sessions/${encodeURIComponent(id)}/stream`, {
      onFrame({ event, data }) {
        if (event === 'event') waiting.push(data as Line);
        else if (event === 'session') latest = data as SetupSession;
        timer ??= setTimeout(flush, GATHERED_MS);
      },
      onLive: (isLive) => change({ isLive, ...(isLive ? { error: undefined } : {}) }),
      isOver: () => latest !== undefined && isOver(latest),
      onRefused: (error) => change({ error, isLive: false }),
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [id]);
  return followed.id === id ? followed : NOTHING;
}

function SessionFoot({ session }: { readonly session: SetupSession }) {
  const left = Date.parse(session.expires_at) - useNow();
  const [isAsked, setAsked] = useState(false);
  const act = useAct();
  const stop = () => act.run(() => ask('POST', `/sessions/${encodeURIComponent(session.id)}/stop`));
  return (
    <div class="session-foot">
      <p class="row">
        <span class="hint" role="timer">
          {left > 0 ? `${timeLeft(left)} left` : 'Its day is over'}
        </span>
        {isAsked ? (
          <>
            <span>The agent cannot go on after that. What it wrote stays.</span>
            <Button label="Stop the session" look="danger" disabled={act.isUnderWay} onClick={stop} />
            <Button label="Let it go on" onClick={() => setAsked(false)} />
          </>
        ) : (
          <Button label="Stop" onClick={() => setAsked(true)} />
        )}
      </p>
      <Problem error={act.error} retry={stop} />
    </div>
  );
}

interface SessionViewProps {
  readonly app: string;
  readonly isLive: boolean;
  readonly id: string;
  readonly step: string | undefined;
  readonly view: 'steps' | 'time';
  readonly go: (changed: Readonly<Record<string, string | undefined>>) => void;
  readonly onOver: () => void;
  readonly another: ComponentChildren;
}

export function SessionView({ app, isLive, id, step, view, go, onOver, another }: SessionViewProps) {
  const followed = useSession(id);
  const { session, error } = followed;
  const isEnded = session !== undefined && isOver(session);
  const isClaimed = session !== undefined && session.agent !== null;
  useEffect(() => {
    if (isEnded) onOver();
  }, [isEnded]);
  // The agent has its file: the command that brought it works no more.
  useEffect(() => {
    if (isClaimed) keepCommand(id, undefined);
  }, [isClaimed]);
  if (error !== undefined && session === undefined) return <Problem error={error} />;
  if (session === undefined) return null;
  return (
    <div class="setup">
      <div class="setup-side">
        <CommandCard session={session} />
        <Outcome session={session} />
        <PersonList app={app} isLive={isLive} session={session} lines={followed.lines} onStep={(at) => go({ step: at })} />
        {isEnded && another}
      </div>
      <section class="card setup-main" aria-label="What the agent does">
        <h2>
          <span>What the agent does</span>
          <span class="row">
            <Following followed={followed} isEnded={isEnded} />
            <SideBySide
              label="Order of the lines"
              value={view}
              options={VIEWS}
              onChange={(next) => go({ view: next === 'time' ? 'time' : undefined })}
            />
          </span>
        </h2>
        {view === 'steps' ? (
          <StepList steps={session.steps} lines={followed.lines} isEnded={isEnded} open={step} onOpen={(next) => go({ step: next })} />
        ) : (
          <TimeView followed={followed} />
        )}
        {!isEnded && <SessionFoot session={session} />}
      </section>
    </div>
  );
}

function TimeView({ followed: { lines, session } }: { readonly followed: FollowedSession }) {
  const labels = new Map(session?.steps.map(({ id, label }) => [id, label]));
  if (lines.length === 0) return <p class="card-empty">Nothing was said yet. Each line of the agent comes here as it is written.</p>;
  return <LineList lines={lines} label="All lines" stepLabels={labels} />;
}

function Following({ followed, isEnded }: { readonly followed: FollowedSession; readonly isEnded: boolean }) {
  const { isLive, session } = followed;
  if (isEnded && session !== undefined) return <StateChip state={session.status} />;
  return <StateChip state={isLive ? 'following' : 'connecting again'} role="status" />;
}

const VIEWS = [
  ['steps', 'By step'],
  ['time', 'By time'],
] as const;

interface Todo {
  readonly text: string;
  readonly href?: string;
  /** The step that waits for it. */
  readonly step?: string;
}

/** What the agent stands at until a person has done something. */
function waitingSteps({ steps, closed_at: closedAt }: SetupSession, lines: readonly Line[]): readonly Todo[] {
  if (closedAt !== null) return [];
  const byStep = linesByStep(lines);
  return steps.flatMap((step) => {
    const own = byStep.get(step.id) ?? [];
    return markOf(step, own) === 'waits' ? [{ text: own.at(-1)?.title ?? step.label, step: step.id }] : [];
  });
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
  readonly lines: readonly Line[];
  readonly onStep: (step: string) => void;
}

function PersonList({ app, isLive, session, lines, onStep }: PersonListProps) {
  const path = `/apps/${encodeURIComponent(app)}`;
  const status = useAsked<AppStatus>(`${path}/status`);
  const proposals = useAsked<{ readonly proposals: readonly unknown[] }>(`${path}/proposals?status=pending`);
  // Asked again when a step moved, and not at every line.
  const moved = session.steps.map(({ state }) => state).join();
  useEffect(() => {
    status.reload();
    proposals.reload();
  }, [moved, session.status]);
  const others = todosOf(app, isLive, status.answer, proposals.answer?.proposals.length ?? 0, session);
  const todos = [...waitingSteps(session, lines), ...others];
  return (
    <Card title="For you to do">
      {todos.length === 0 ? (
        <p class="card-empty">Nothing yet. What only a person can do, such as entering a key, comes up here.</p>
      ) : (
        <ul class="setup-todos">
          {todos.map(({ text, href, step }) => (
            <li key={`${step} ${text}`}>
              {step !== undefined ? (
                <button type="button" class="link" onClick={() => onStep(step)}>
                  {text}
                </button>
              ) : href === undefined ? (
                text
              ) : (
                <a href={href}>{text}</a>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
