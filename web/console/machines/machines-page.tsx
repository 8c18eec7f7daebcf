/** The list of machines. */

import { useAsked } from '../api/asked-hook.ts';
import { Problem } from '../parts/card.tsx';
import { Version } from '../parts/copy-button.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { Page } from '../shell/page.tsx';
import { DECIDES, type MachineLine, type MachinesAnswer } from './state-table.tsx';

export function MachinesPage() {
  const { answer, error, reload } = useAsked<MachinesAnswer>('/machines');
  return (
    <Page title="Machines" facts="The state machines of this service. Step through each one here: nothing in the service changes.">
      <Problem error={error} retry={reload} />
      {answer !== undefined && (
        <Scrolling label="Machines" isCard>
          <Table
            look="list stacks"
            rows={answer.machines}
            keyOf={({ name }) => name}
            columns={[
              { title: 'Machine', of: MachineName },
              { title: 'What it decides', of: ({ name }) => DECIDES[name], look: () => 'is-prose' },
              { title: 'States', of: ({ states }) => states, look: 'number' },
              { title: 'Events', of: ({ events }) => events, look: 'number' },
              { title: 'Its rules', of: SourceLink },
              { title: 'Version', of: Version },
            ]}
          />
        </Scrolling>
      )}
    </Page>
  );
}

/** `docs/specification/chat.md: CHAT-17` is served, and its id is what a reader looks for there. */
function SourceLink({ source }: MachineLine) {
  const [path = '', rule = ''] = source.split(': ');
  return (
    <a href={`/${path}`} target="_blank" rel="noreferrer">
      {rule === '' ? path : rule}
    </a>
  );
}

function MachineName({ name, title }: MachineLine) {
  return (
    <>
      <a href={`/console/machines/${name}`}>{title}</a>
      <code class="below">{name}</code>
    </>
  );
}
