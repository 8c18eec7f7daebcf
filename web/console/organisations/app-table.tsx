/** The apps of an organisation: in which state each is, and how it goes. */
import type { AppGlance, Overview } from '../../../protocol/console/glance-answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import type { App, Organisation } from '../app/app.ts';
import { appAddress, stateOf } from '../app/app.ts';
import { FailedShare, GLANCED, NONE, WaitLinks } from '../overview/glance-parts.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';

/** Numbers of the apps that were used last, by id, as the overview has them. */
function useGlances({ id, name }: Organisation): ReadonlyMap<string, AppGlance> {
  const { answer } = useAsked<Overview>(`/overview?name=${encodeURIComponent(name)}`, GLANCED);
  const apps = answer?.orgs.find((organisation) => organisation.id === id)?.glance?.apps ?? [];
  return new Map(apps.map((app) => [app.id, app]));
}

export function AppTable({ organisation, apps }: { readonly organisation: Organisation; readonly apps: readonly App[] }) {
  const glances = useGlances(organisation);
  const rows = apps.map((app) => ({ app, glance: glances.get(app.id) }));
  return (
    <Scrolling label={`Apps of ${organisation.name}`}>
      <Table
        look="list stacks"
        rows={rows}
        keyOf={({ app }) => app.id}
        columns={[
          {
            title: 'App',
            of: ({ app: { id, name } }) => (
              <>
                <a href={appAddress(id)}>{name}</a>
                <code class="below is-id" title={id}>
                  {id}
                </code>
              </>
            ),
          },
          { title: 'State', of: ({ app }) => <StateChip state={stateOf(app)} /> },
          { title: 'Published', of: ({ app: { published_version: version } }) => (version === null ? NONE : `version ${version}`) },
          { title: 'Answers today', of: ({ glance }) => glance?.ended || NONE, look: 'number' },
          { title: 'Failed', of: ({ glance }) => (glance === undefined ? NONE : <FailedShare {...glance} />), look: 'number' },
          { title: 'Waits for you', of: ({ app, glance }) => glance !== undefined && <WaitLinks app={app.id} of={glance} /> },
          { title: 'Last said', of: ({ glance }) => (glance?.last_at == null ? NONE : momentOf(glance.last_at)) },
        ]}
      />
    </Scrolling>
  );
}
