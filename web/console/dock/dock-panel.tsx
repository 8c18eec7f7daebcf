/** What the dock shows: what is wrong and what failed lately, grouped, beside what happens to the object on screen, as it happens. */
import type { ComponentChildren } from 'preact';
import type { NewestTrace, NodesAnswer } from '../../../protocol/console/answers.ts';
import { POLLED, useAsked } from '../api/asked-hook.ts';
import { StateChip } from '../parts/state-chip.tsx';
import { stateWords } from '../parts/states.ts';
import { clockOf } from '../parts/times.ts';
import { wordsOf } from '../shell/conditions.tsx';
import { newestAddress } from '../traces/find.ts';
import { useLiveTraces } from '../traces/live-hook.ts';
import { type FailureGroup, failureGroups } from './failures.ts';

export interface DockPanelProps {
  readonly app: string | undefined;
  readonly conversation: string | undefined;
}

const EVENTS_SHOWN = 30;

/** `chat-turn` → `Chat turn`. */
const nameOf = (machine: string) => machine.replaceAll('-', ' ').replace(/^./, (first) => first.toUpperCase());

export function DockPanel({ app, conversation }: DockPanelProps) {
  if (app === undefined) {
    return (
      <Halves
        failed={<p class="hint">Open a page of an app to see what failed in it.</p>}
        happens={<p class="hint">Open a page of an app to follow its turns, calls, sessions and sources.</p>}
      />
    );
  }
  return <AppHalves app={app} conversation={conversation} />;
}

function Halves({ failed, happens }: { readonly failed: ComponentChildren; readonly happens: ComponentChildren }) {
  return (
    <div class="dock-halves">
      <section aria-label="What failed">
        <h2>What failed</h2>
        <Conditions />
        {failed}
      </section>
      <section aria-label="What happens">
        <h2>What happens</h2>
        {happens}
      </section>
    </div>
  );
}

function AppHalves({ app, conversation }: DockPanelProps & { readonly app: string }) {
  const { answer, error } = useAsked<{ readonly newest: readonly NewestTrace[] }>(`/apps/${encodeURIComponent(app)}/traces/newest`, POLLED);
  if (answer === undefined) return <p class="hint">{error?.message}</p>;
  const { newest } = answer;
  return (
    <Halves
      failed={<Failures app={app} newest={newest} />}
      happens={
        conversation === undefined ? <AppEvents app={app} newest={newest} /> : <ConversationEvents app={app} conversation={conversation} />
      }
    />
  );
}

function Conditions() {
  const { answer } = useAsked<NodesAnswer>('/nodes', POLLED);
  return (
    <>
      {answer?.conditions.map(({ condition, detail, about = [] }) => (
        <p key={condition}>
          <a href="/console" class="is-failing">
            {wordsOf(condition).title}
          </a>{' '}
          {detail ?? about[0]?.detail}
        </p>
      ))}
    </>
  );
}

interface NewestProps {
  readonly app: string;
  readonly newest: readonly NewestTrace[];
}

function Failures({ app, newest }: NewestProps) {
  const groups = failureGroups(newest);
  if (groups.length === 0) return <p class="hint">Nothing of the newest {newest.length} has failed.</p>;
  return (
    <ul class="dock-lines">
      {groups.map((group) => (
        <Failure key={`${group.machine} ${group.state}`} app={app} {...group} />
      ))}
    </ul>
  );
}

function Failure({ app, machine, state, members }: FailureGroup & { readonly app: string }) {
  return (
    <li>
      <details>
        <summary>
          <StateChip state={state} /> {nameOf(machine)} <b>{members.length} ×</b>
        </summary>
        {members.map((each) => (
          <a key={each.instance} href={newestAddress(app, each)}>
            {clockOf(each.at_ms)} {each.words || <code>{each.instance}</code>}
          </a>
        ))}
      </details>
    </li>
  );
}

function AppEvents({ app, newest }: NewestProps) {
  if (newest.length === 0) return <p class="hint">Nothing yet.</p>;
  return (
    <ul class="dock-lines">
      {newest.slice(0, EVENTS_SHOWN).map((each) => (
        <li key={`${each.machine} ${each.instance}`}>
          <time>{clockOf(each.at_ms)}</time> {nameOf(each.machine)} <b>{each.state === null ? '·' : stateWords(each.state)}</b>{' '}
          <a href={newestAddress(app, each)}>{each.words || <code>{each.instance}</code>}</a>
        </li>
      ))}
    </ul>
  );
}

function ConversationEvents({ app, conversation }: { readonly app: string; readonly conversation: string }) {
  const { traces, error } = useLiveTraces(app, `conversation_id=${encodeURIComponent(conversation)}`);
  if (traces === undefined) return <p class="hint">{error?.message}</p>;
  const steps = traces.flatMap(({ machine, instance, steps: all }) => all.map((step) => ({ machine, instance, step })));
  const newest = steps.sort((one, other) => other.step.atMs - one.step.atMs).slice(0, EVENTS_SHOWN);
  return (
    <ul class="dock-lines">
      {newest.map(({ machine, instance, step }, at) => (
        <li key={`${instance} ${newest.length - at}`}>
          <time>{clockOf(step.atMs)}</time> {nameOf(machine)} <code>{step.event.type}</code> → <b>{step.to}</b>
        </li>
      ))}
    </ul>
  );
}
