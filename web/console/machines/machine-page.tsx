/** One machine: its picture or its table, to step through. What is watched live and replayed will be other ways to feed the same picture. */

import { useMemo } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { simulatedMachine } from '../../../machines/simulator/walk.ts';
import { useAsked } from '../api/asked-hook.ts';
import { Problem } from '../parts/card.tsx';
import { Version } from '../parts/copy-button.tsx';
import { Page } from '../shell/page.tsx';
import { Simulator } from '../simulator/simulator.tsx';
import { DECIDES, type MachineAnswer } from './state-table.tsx';

const CRUMBS = [{ label: 'Machines', href: '/console/machines' }];

export function MachinePage() {
  const { params, query } = useRoute();
  const { name = '' } = params;
  const { answer, error, reload } = useAsked<MachineAnswer>(`/machines/${encodeURIComponent(name)}`);
  const simulated = useMemo(() => simulatedMachine(name), [name]);
  return (
    <Page fills title={answer?.title ?? 'Machine'} crumbs={CRUMBS} facts={answer === undefined ? undefined : <Facts {...answer} />}>
      <Problem error={error} retry={reload} />
      {answer !== undefined && simulated !== undefined && (
        <Simulator key={`${name} ${query.steps ?? ''}`} machine={answer} simulated={simulated} />
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
