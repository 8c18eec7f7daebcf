/** One machine: its picture or its table, to step through. What is watched live and replayed will be other ways to feed the same picture. */

import { useMemo, useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { simulatedMachine } from '../../../machines/simulator/walk.ts';
import { useAsked } from '../api/asked-hook.ts';
import { Problem } from '../parts/card.tsx';
import { SideBySide } from '../parts/choices.tsx';
import { Version } from '../parts/copy-button.tsx';
import { Page } from '../shell/page.tsx';
import { Simulator, VIEWS, type View } from '../simulator/simulator.tsx';
import { DECIDES, type MachineAnswer } from './state-table.tsx';

const CRUMBS = [{ label: 'Machines', href: '/console/machines' }];

export function MachinePage() {
  const { params, query } = useRoute();
  const { name = '' } = params;
  const { answer, error, reload } = useAsked<MachineAnswer>(`/machines/${encodeURIComponent(name)}`);
  const simulated = useMemo(() => simulatedMachine(name), [name]);
  const [view, show] = useState<View>(query.hours === undefined ? 'picture' : 'coverage');
  return (
    <Page
      fills
      title={answer?.title ?? 'Machine'}
      crumbs={CRUMBS}
      facts={answer === undefined ? undefined : <Facts {...answer} />}
      actions={<SideBySide label="Show the machine as" value={view} options={VIEWS} onChange={show} />}
    >
      <Problem error={error} retry={reload} />
      {answer !== undefined && simulated !== undefined && (
        <Simulator key={`${name} ${query.steps ?? ''}`} machine={answer} simulated={simulated} view={view} />
      )}
    </Page>
  );
}

function Facts({ name, version, table }: MachineAnswer) {
  return (
    <>
      <span>{DECIDES[name]}</span>
      <span>
        <code>{name}</code>
      </span>
      <span>
        <b>{table.rows.length}</b> states
      </span>
      <span>
        <b>{table.events.length}</b> events
      </span>
      <span>
        Version <Version version={version} />
      </span>
    </>
  );
}
