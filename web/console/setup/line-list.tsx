/** Lines of a session: when, who, what. Whatever an agent wrote is text. */

import { useState } from 'preact/hooks';
import type { Line } from '../../../protocol/console/setup-answers.ts';
import { Button } from '../parts/card.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { clockOf } from '../parts/times.ts';

const LINES_SHOWN = 200;

interface LineListProps {
  readonly lines: readonly Line[];
  readonly label: string;
  readonly stepLabels?: ReadonlyMap<string, string>;
}

export function LineList({ lines, label, stepLabels }: LineListProps) {
  const [shown, show] = useState(LINES_SHOWN);
  const hidden = Math.max(lines.length - shown, 0);
  return (
    <>
      {hidden > 0 && (
        <Button
          label={`Show ${Math.min(hidden, LINES_SHOWN)} earlier lines of ${hidden}`}
          look="bare"
          onClick={() => show(shown + LINES_SHOWN)}
        />
      )}
      <ol class="setup-lines" aria-label={label}>
        {lines.slice(hidden).map((line) => (
          <LineItem key={line.id} line={line} stepLabel={stepLabels?.get(line.step)} />
        ))}
      </ol>
    </>
  );
}

function LineItem({ line, stepLabel }: { readonly line: Line; readonly stepLabel: string | undefined }) {
  const { title, detail, data, status, origin, at } = line;
  return (
    <li class="setup-line" data-line={line.id}>
      <time class="setup-line-time" dateTime={at} title={at}>
        {clockOf(at)}
      </time>
      <div class="setup-line-body">
        <p class="setup-line-title">
          <span>{title ?? status}</span> {status !== 'progress' && title !== null && <StateChip state={status} />}
        </p>
        {stepLabel !== undefined && <p class="setup-line-step">{stepLabel}</p>}
        {detail !== null && <p class="setup-line-detail">{detail}</p>}
        {data !== null && data !== undefined && (
          <details class="setup-line-data">
            <summary>Data</summary>
            <pre>{JSON.stringify(data, null, 2)}</pre>
          </details>
        )}
      </div>
      <span class="setup-line-origin">{origin === 'server' ? 'service' : 'agent'}</span>
    </li>
  );
}
