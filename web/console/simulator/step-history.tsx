/** The steps so far, with the one that is looked at; each is a click away. */

import { useEffect, useRef } from 'preact/hooks';
import type { WalkedWay } from '../../../machines/simulator/walk.ts';
import { Button } from '../parts/card.tsx';
import { copied } from '../parts/copy-button.tsx';
import { useShortcut } from '../shell/shortcuts.ts';
import { toast } from '../shell/toasts.tsx';
import type { WalkStore } from './walk-hook.ts';
import { outcomeWords } from './words.ts';

interface StepHistoryProps {
  readonly store: WalkStore;
  readonly way: WalkedWay;
  readonly at: number;
  readonly input: number;
}

async function copyLink(): Promise<void> {
  const isCopied = await copied(location.href);
  toast(isCopied ? 'The link to these steps is copied.' : 'This browser does not let the page copy. The address of the page is the link.');
}

export function StepHistory({ store, way, at, input }: StepHistoryProps) {
  const go = (to: number) => store.send({ type: 'went', at: to });
  const again = () => store.send({ type: 'began', input });
  useShortcut('j', 'One step forward', () => go(at + 1));
  useShortcut('k', 'One step back', () => go(at - 1));
  useShortcut('r', 'Start again', again);
  return (
    <>
      <div class="panel-head">
        <h2>Steps</h2>
        <div class="history-tools">
          <button type="button" class="button" disabled={at === 0} onClick={() => go(at - 1)}>
            Back <kbd>k</kbd>
          </button>
          <button type="button" class="button" disabled={at === way.steps.length} onClick={() => go(at + 1)}>
            Forward <kbd>j</kbd>
          </button>
          <button type="button" class="button" disabled={way.steps.length === 0} onClick={again}>
            Start again <kbd>r</kbd>
          </button>
          <Button label="Copy the link" disabled={way.steps.length === 0} onClick={() => void copyLink()} />
        </div>
      </div>
      <ol class="steps">
        <StepLine
          at={0}
          isShown={at === 0}
          event="start"
          outcome={way.start.state.startsWith('{') ? 'regions' : way.start.state}
          onGo={go}
        />
        {way.steps.map(({ event, verdict }, index) => (
          <StepLine key={index} at={index + 1} isShown={at === index + 1} event={event.type} outcome={outcomeWords(verdict)} onGo={go} />
        ))}
      </ol>
    </>
  );
}

interface StepLineProps {
  readonly at: number;
  readonly isShown: boolean;
  readonly event: string;
  readonly outcome: string;
  readonly onGo: (at: number) => void;
}

function StepLine({ at, isShown, event, outcome, onGo }: StepLineProps) {
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isShown) line.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isShown]);
  return (
    <li ref={line}>
      <button type="button" class="step" aria-current={isShown ? 'step' : undefined} onClick={() => onGo(at)}>
        <span class="step-number">{at}</span>
        <code>{event}</code>
        <span class="step-outcome">{outcome}</span>
      </button>
    </li>
  );
}
