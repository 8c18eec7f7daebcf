/** The apps of an organisation, each with its state. */
import type { App } from '../app/app.ts';
import { appAddress } from '../app/app.ts';
import { AppStateChip } from '../app/app-page.tsx';

export function AppTable({ organisation, apps }: { readonly organisation: string; readonly apps: readonly App[] }) {
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
          {apps.map((app) => (
            <tr key={app.id}>
              <th scope="row">
                <a href={appAddress(app.id)}>{app.name}</a>
              </th>
              <td>
                <AppStateChip app={app} />
              </td>
              <td>{app.published_version === null ? 'nothing' : `version ${app.published_version}`}</td>
              <td>
                <code class="selectable">{app.id}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
