/** The first page: organisations, their apps, and what state each is in. */
import { useRef, useState } from 'preact/hooks';
import { Problem } from '../api/problem.tsx';
import { useResource } from '../api/resource.ts';
import { type App, type Organisation, organisationAddress } from '../app/app.ts';
import { AppTable } from '../organisations/app-table.tsx';
import { NewOrganisation } from '../organisations/new-organisation.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Page } from '../shell/page.tsx';

interface OrganisationsAnswer {
  readonly orgs: readonly Organisation[];
  readonly next: string | null;
}

/** So many at first, and so many more with each press of the button. */
const ORGANISATIONS_SHOWN = 50;
/** The most that one answer of the interface has. */
const ORGANISATIONS_MAX = 200;

/** The last one that there was: what is shown stays while more is read. */
function useKept<Answer>(answer: Answer | undefined): Answer | undefined {
  const last = useRef(answer);
  last.current = answer ?? last.current;
  return last.current;
}

export function OverviewPage() {
  const [shown, show] = useState(ORGANISATIONS_SHOWN);
  const [isCreating, create] = useState(false);
  const { answer: read, error, reload } = useResource<OrganisationsAnswer>(`/orgs?limit=${shown}`);
  const answer = useKept(read);
  const isEmpty = answer?.orgs.length === 0;
  const button = (
    <button type="button" class="button" onClick={() => create(true)}>
      New organisation
    </button>
  );
  return (
    <Page title="Overview" {...(isEmpty || answer === undefined ? {} : { actions: button })}>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {isEmpty && (
        <section class="card" aria-label="The first organisation">
          <h2>Create the first organisation</h2>
          <div class="card-form">
            <p class="hint">
              An organisation is a customer of this service: its apps, its people and what they spend belong together. Then it gets an app,
              and a coding agent sets that up.
            </p>
            <NewOrganisation />
          </div>
        </section>
      )}
      {answer?.orgs.map((organisation) => (
        <OrganisationCard key={organisation.id} {...organisation} />
      ))}
      {answer != null && answer.next !== null && shown < ORGANISATIONS_MAX && (
        <p class="more">
          <button type="button" class="button" onClick={() => show(Math.min(shown + ORGANISATIONS_SHOWN, ORGANISATIONS_MAX))}>
            Show more
          </button>
        </p>
      )}
      {isCreating && (
        <Dialog title="New organisation" onClose={() => create(false)}>
          <NewOrganisation />
        </Dialog>
      )}
    </Page>
  );
}

function OrganisationCard({ id, name, plan }: Organisation) {
  const { answer, error, reload } = useResource<{ readonly apps: readonly App[] }>(`/orgs/${encodeURIComponent(id)}/apps`);
  return (
    <section class="card" aria-label={name}>
      <h2>
        <a href={organisationAddress(id)}>{name}</a> <small>plan {plan}</small>
      </h2>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {answer?.apps.length === 0 && (
        <p class="card-empty">
          No apps yet. <a href={organisationAddress(id)}>Create one</a>
        </p>
      )}
      {answer !== undefined && answer.apps.length > 0 && <AppTable organisation={name} apps={answer.apps} />}
    </section>
  );
}
