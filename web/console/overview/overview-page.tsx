/** The first page: organisations, their apps, and what state each is in. */

import { useRef, useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import type { Organisation } from '../../../protocol/console/answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { usePages } from '../api/pages-hook.ts';
import { type App, organisationAddress } from '../app/app.ts';
import { AppTable } from '../organisations/app-table.tsx';
import { NewOrganisation } from '../organisations/new-forms.tsx';
import { Button, Card, Problem } from '../parts/card.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { replaceAddress } from '../shell/address.ts';
import { Page } from '../shell/page.tsx';

interface OrganisationsAnswer {
  readonly orgs: readonly Organisation[];
  readonly next: string | null;
}

const ORGANISATIONS_SHOWN = 50;
const FEW = 8;

/** Those that were shown stay until there are others. */
function useOrganisations(name: string) {
  const path = `/orgs?limit=${ORGANISATIONS_SHOWN}${name === '' ? '' : `&name=${encodeURIComponent(name)}`}`;
  const list = usePages<OrganisationsAnswer>(path);
  const shown = useRef<readonly Organisation[] | undefined>(undefined);
  if (list.pages.length > 0) shown.current = list.pages.flatMap(({ orgs }) => orgs);
  return { ...list, organisations: shown.current };
}

export function OverviewPage() {
  const { query } = useRoute();
  const [name, type] = useState(query.find ?? '');
  const [isCreating, create] = useState(false);
  const { organisations, pages, next, error, isReading, reload, more } = useOrganisations(name.trim());
  const isEmpty = organisations?.length === 0 && name.trim() === '';
  const hasMany = name !== '' || next !== null || (organisations?.length ?? 0) > FEW;
  const button = <Button label="New organisation" onClick={() => create(true)} />;
  return (
    <Page title="Overview" {...(isEmpty || organisations === undefined ? {} : { actions: button })}>
      <Problem error={error} retry={reload} />
      {isEmpty && <FirstOrganisation />}
      {hasMany && (
        <input
          class="input find-organisation"
          type="search"
          aria-label="Find an organisation"
          placeholder="Find an organisation by its name"
          value={name}
          onInput={(event) => {
            type(event.currentTarget.value);
            replaceAddress({ find: event.currentTarget.value || undefined });
          }}
        />
      )}
      {pages.length > 0 && organisations?.length === 0 && name.trim() !== '' && (
        <p class="card card-empty">No organisation has {name.trim()} in its name.</p>
      )}
      {organisations?.map((organisation) => (
        <OrganisationCard key={organisation.id} {...organisation} />
      ))}
      {next !== null && (
        <p class="more">
          <Button label="Show more" disabled={isReading} onClick={more} />
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

function FirstOrganisation() {
  return (
    <Card title="Create the first organisation" label="The first organisation">
      <div class="card-form">
        <p class="hint">
          An organisation is a customer of this service: its apps, its people and what they spend belong together. Then it gets an app, and
          a coding agent sets that up.
        </p>
        <NewOrganisation />
      </div>
    </Card>
  );
}

function OrganisationCard({ id, name, plan }: Organisation) {
  const { answer, error, reload } = useAsked<{ readonly apps: readonly App[] }>(`/orgs/${encodeURIComponent(id)}/apps`);
  return (
    <section class="card" aria-label={name}>
      <h2>
        <a href={organisationAddress(id)}>{name}</a> <small>plan {plan}</small>
      </h2>
      <Problem error={error} retry={reload} />
      {answer?.apps.length === 0 && (
        <p class="card-empty">
          No apps yet. <a href={organisationAddress(id)}>Create one</a>
        </p>
      )}
      {answer !== undefined && answer.apps.length > 0 && <AppTable organisation={name} apps={answer.apps} />}
    </section>
  );
}
