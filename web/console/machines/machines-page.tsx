/** The list of machines. */

import { useAsked } from '../api/asked-hook.ts';
import { Problem } from '../api/problem.tsx';
import { Page } from '../shell/page.tsx';
import type { MachineLine, MachinesAnswer } from './machine-answers.ts';

export function MachinesPage() {
  const { answer, error, reload } = useAsked<MachinesAnswer>('/machines');
  return (
    <Page
      title="Machines"
      facts="What decides in this service: each is a statechart that you can step through here, with nothing at stake."
    >
      {error !== undefined && <Problem error={error} retry={reload} />}
      {answer !== undefined && (
        <section class="card" aria-label="Machines">
          <div class="scroll-x">
            <table class="list">
              <thead>
                <tr>
                  <th scope="col">Machine</th>
                  <th scope="col" class="number">
                    States
                  </th>
                  <th scope="col" class="number">
                    Events
                  </th>
                  <th scope="col">Its rules</th>
                  <th scope="col">Version</th>
                </tr>
              </thead>
              <tbody>
                {answer.machines.map((machine) => (
                  <MachineRow key={machine.name} {...machine} />
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
    </Page>
  );
}

/** `docs/specification/chat.md: CHAT-17` is served, and its id is what a reader looks for there. */
function SourceLink({ source }: { readonly source: string }) {
  const [path = '', rule = ''] = source.split(': ');
  return (
    <a href={`/${path}`} target="_blank" rel="noreferrer">
      {rule === '' ? path : rule}
    </a>
  );
}

function MachineRow({ name, title, source, version, states, events }: MachineLine) {
  return (
    <tr>
      <th scope="row">
        <a href={`/console/machines/${name}`}>{title}</a> <code>{name}</code>
      </th>
      <td class="number">{states}</td>
      <td class="number">{events}</td>
      <td>
        <SourceLink source={source} />
      </td>
      <td>
        <code>{version}</code>
      </td>
    </tr>
  );
}
