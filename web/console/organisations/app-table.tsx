/** The apps of an organisation, each with its state. */

import type { App } from '../app/app.ts';
import { appAddress } from '../app/app.ts';
import { AppStateChip } from '../app/app-page.tsx';
import { Scrolling, Table } from '../parts/table.tsx';

export function AppTable({ organisation, apps }: { readonly organisation: string; readonly apps: readonly App[] }) {
  return (
    <Scrolling label={`Apps of ${organisation}`}>
      <Table
        rows={apps}
        keyOf={({ id }) => id}
        columns={[
          { title: 'App', of: ({ id, name }) => <a href={appAddress(id)}>{name}</a> },
          { title: 'State', of: (app) => <AppStateChip app={app} /> },
          { title: 'Published', of: ({ published_version: version }) => (version === null ? 'nothing' : `version ${version}`) },
          { title: 'Id', of: ({ id }) => <code class="selectable">{id}</code> },
        ]}
      />
    </Scrolling>
  );
}
