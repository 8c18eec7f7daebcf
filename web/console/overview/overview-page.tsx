/** The first page: organisations, their apps, and what state each is in. */
import { Problem } from '../api/problem.tsx';
import { useResource } from '../api/resource.ts';
import { Page } from '../shell/page.tsx';

interface Organisation {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
}

interface App {
  readonly id: string;
  readonly name: string;
  readonly live: boolean;
  readonly suspended: boolean;
  readonly published_version: number | null;
}

/** The first ones; the interface pages through all. */
const ORGANISATIONS_SHOWN = 50;

export function OverviewPage() {
  const { answer, error, reload } = useResource<{ readonly orgs: readonly Organisation[]; readonly next: string | null }>(
    `/orgs?limit=${ORGANISATIONS_SHOWN}`,
  );
  return (
    <Page title="Overview">
      {error !== undefined && <Problem error={error} retry={reload} />}
      {answer?.orgs.length === 0 && (
        <div class="empty">
          <p>An organisation is a customer of this service; apps and what they spend belong to it.</p>
          <p>
            Create the first with <code>POST /console/api/orgs</code>, as the <a href="/docs/console.md">interface</a> shows.
          </p>
        </div>
      )}
      {answer?.orgs.map((organisation) => (
        <OrganisationCard key={organisation.id} {...organisation} />
      ))}
      {answer != null && answer.next !== null && <p class="hint">There are more: the interface pages through all of them.</p>}
    </Page>
  );
}

function OrganisationCard({ id, name, plan }: Organisation) {
  const { answer, error, reload } = useResource<{ readonly apps: readonly App[] }>(`/orgs/${encodeURIComponent(id)}/apps`);
  return (
    <section class="card" aria-label={name}>
      <h2>
        {name} <small>plan {plan}</small>
      </h2>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {answer?.apps.length === 0 && <p class="card-empty">No apps yet.</p>}
      {answer !== undefined && answer.apps.length > 0 && <AppTable organisation={name} apps={answer.apps} />}
    </section>
  );
}

function stateOf({ live, suspended }: App): { readonly word: string; readonly signal: string } {
  if (suspended) return { word: 'suspended', signal: 'bad' };
  return live ? { word: 'live', signal: 'ok' } : { word: 'not live yet', signal: 'wait' };
}

function AppTable({ organisation, apps }: { readonly organisation: string; readonly apps: readonly App[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys.
    <section class="scroll-x" aria-label={`Apps of ${organisation}`} tabIndex={0}>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">App</th>
            <th scope="col">State</th>
            <th scope="col">Published</th>
            <th scope="col">Id</th>
          </tr>
        </thead>
        <tbody>
          {apps.map((app) => {
            const { word, signal } = stateOf(app);
            return (
              <tr key={app.id}>
                <th scope="row">{app.name}</th>
                <td>
                  <span class={`chip is-${signal}`}>{word}</span>
                </td>
                <td>{app.published_version === null ? 'nothing' : `version ${app.published_version}`}</td>
                <td>
                  <code class="selectable">{app.id}</code>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
