/** The thirteen steps as one column. A click opens the lines of a step; which one is open is in the address. */

import { useEffect, useState } from 'preact/hooks';
import type { Line, Step } from '../../../protocol/console/setup-answers.ts';
import { StateChip } from '../parts/state-chip.tsx';
import { LineList } from './line-list.tsx';
import { linesByStep, MARK_WORDS, type Mark, markOf } from './session.ts';

interface StepListProps {
  readonly steps: readonly Step[];
  readonly lines: readonly Line[];
  /** The session is over. */
  readonly isEnded: boolean;
  readonly open: string | undefined;
  readonly onOpen: (step: string | undefined) => void;
}

const NO_LINES: readonly Line[] = [];
const LEGEND = ['observed', 'claimed', 'active', 'waits', 'pending'] as const;
const ENDED_LEGEND = ['observed', 'claimed', 'left', 'skipped', 'failed', 'pending'] as const;

export function StepList({ steps, lines, isEnded, open, onOpen }: StepListProps) {
  const byStep = linesByStep(lines);
  return (
    <>
      <ol class="setup-steps" aria-label="Steps">
        {steps.map((step) => (
          <StepRow
            key={step.id}
            step={step}
            lines={byStep.get(step.id) ?? NO_LINES}
            isEnded={isEnded}
            isOpen={open === step.id}
            toggle={() => onOpen(open === step.id ? undefined : step.id)}
          />
        ))}
      </ol>
      <ul class="setup-step-legend" aria-label="What the marks say">
        {(isEnded ? ENDED_LEGEND : LEGEND).map((mark) => (
          <li key={mark}>
            <StepMark mark={mark} />
            {MARK_WORDS[mark]}
          </li>
        ))}
      </ul>
      {!isEnded && <Announcement steps={steps} />}
    </>
  );
}

interface StepRowProps {
  readonly step: Step;
  readonly lines: readonly Line[];
  readonly isEnded: boolean;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

function StepRow({ step, lines, isEnded, isOpen, toggle }: StepRowProps) {
  const mark = markOf(step, lines, isEnded);
  const last = lines.findLast(({ title }) => title !== null);
  const panel = `lines-of-${step.id}`;
  return (
    <li
      class={`setup-step is-${mark}`}
      data-step={step.id}
      data-mark={mark}
      aria-current={mark === 'active' || mark === 'waits' ? 'step' : undefined}
    >
      <button type="button" class="setup-step-head" aria-expanded={isOpen} aria-controls={isOpen ? panel : undefined} onClick={toggle}>
        <StepMark mark={mark} />
        <span class="setup-step-label">
          {step.label}{' '}
          {mark === 'waits' || mark === 'left' ? (
            <StateChip state={mark === 'waits' ? 'waiting' : mark} />
          ) : (
            <span class="unseen">, {MARK_WORDS[mark]}</span>
          )}
        </span>
        <span class="setup-step-count">{lines.length === 0 ? '' : lines.length === 1 ? '1 line' : `${lines.length} lines`}</span>
        {!isOpen && last !== undefined && <span class="setup-step-last">{last.title}</span>}
      </button>
      {isOpen && (
        <div class="setup-step-lines" id={panel}>
          {lines.length === 0 ? <p class="hint">{emptyReason(step)}</p> : <LineList lines={lines} label={`Lines of ${step.label}`} />}
        </div>
      )}
    </li>
  );
}

function emptyReason({ state, closed_by: closedBy }: Step): string {
  if (state === 'skipped' || state === 'failed' || state === 'done') return 'Nothing was said about this step.';
  if (closedBy === 'server') return 'The service ticks this step itself, once it sees it. Nothing was seen yet.';
  return closedBy === 'agent' ? 'The agent has said nothing about this step yet.' : 'Nothing was written or said about this step yet.';
}

function StepMark({ mark }: { readonly mark: Mark }) {
  return (
    <svg class={`setup-step-mark is-${mark}`} viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
      <circle cx="9" cy="9" r="7.25" />
      {(mark === 'observed' || mark === 'claimed') && <path d="M5.8 9.2l2.2 2.2 4.2-4.6" />}
      {mark === 'failed' && <path d="M6.4 6.4l5.2 5.2M11.6 6.4l-5.2 5.2" />}
      {(mark === 'skipped' || mark === 'left') && <path d="M5.8 9h6.4" />}
      {mark === 'waits' && <path d="M9 5v4.6M9 12.2v.4" />}
      {mark === 'active' && <circle class="setup-step-dot" cx="9" cy="9" r="3" />}
    </svg>
  );
}

function Announcement({ steps }: { readonly steps: readonly Step[] }) {
  const active = steps.findLast(({ state }) => state === 'active')?.label;
  const [said, say] = useState('');
  useEffect(() => {
    if (active !== undefined) say(`Under way: ${active}`);
  }, [active]);
  return <output class="unseen">{said}</output>;
}
