/** What each of the thirteen steps needs of an agent, as the setup file tells it (service.md "Steps"). */
import { type ClosedBy, STEPS, type StepId } from '../../protocol/setup/steps.ts';

const NEEDS: Readonly<Record<StepId, string>> = {
  waiting: 'POST /start.',
  connected: 'POST /start.',
  discover: 'Read the repository. POST /events with `detected`.',
  install: 'Write the client, see "In the app". POST /events `started`, then `done`.',
  identity: 'Turns of signed-in people carry `user`, see "In the app". POST /events. Nobody signs in: `skipped`.',
  appearance: "PUT /appearance from the app's theme, POST /logo; mend `warnings`.",
  experience: 'PUT /experience.',
  knowledge: 'POST /knowledge: help pages, FAQ, policies. Wait for `knowledge_ready`.',
  screens: 'POST /screens, and the same names in `routes` of the manifest. None: `skipped`.',
  actions: 'POST /actions for HTTP endpoints, `actions` of the manifest for what runs in the app. None: `skipped`.',
  verify: 'Build the app and start it with the test key: its first manifest closes the step. You cannot: `failed`, and why.',
  test: 'POST /smoke until `passed`.',
  done: 'POST /complete.',
};

const CLOSED_BY: Readonly<Record<ClosedBy, string>> = { server: 'the service', agent: 'you', either: 'either' };

/** A Markdown table in the order of the panel. */
export function renderSteps(): string {
  const rows = STEPS.map(({ id, label, closedBy }, at) => `| ${at + 1} | ${id} | ${label} | ${CLOSED_BY[closedBy]} | ${NEEDS[id]} |`);
  return ['| | step | panel | closed by | needs |', '|---|---|---|---|---|', ...rows].join('\n');
}
