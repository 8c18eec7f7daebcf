/** What each of the thirteen steps needs of an agent, as the setup file tells it (SETUP-34). */
import type { AppForm } from '../../../protocol/console/apps.ts';
import { STEPS, type StepId } from '../../../protocol/setup/steps.ts';
import type { WriteMode } from '../../../protocol/setup/writes.ts';

const NEEDS: Readonly<Record<Exclude<StepId, 'install'>, string>> = {
  waiting: 'POST /start.',
  connected: 'POST /start.',
  discover: 'Read the repository. POST /events with `detected`.',
  identity:
    'Turns of signed-in people carry `user`, see "In the app". POST /events `done`. Nobody signs in: `skipped`. They do, but outside this repository: `waiting`, `human_todos`.',
  appearance: "PUT /appearance from the app's theme, POST /logo if there is one; mend `warnings`.",
  experience: 'PUT /experience.',
  knowledge: 'POST /knowledge: help pages, FAQ, policies. Wait for `knowledge_ready`.',
  screens: 'POST /screens, and the same names in `routes` of the manifest. None: `skipped`.',
  actions:
    '`actions` of the manifest for functions of the app, first choice for what both can do; POST /actions for HTTP endpoints. All in the code: `done`. None: `skipped`.',
  verify:
    'Build the app and start it with the test key, a web app in a browser: its first call closes the step. You cannot: `failed`, `human_todos`.',
  test: 'POST /smoke until `passed`.',
  done: 'POST /complete.',
};

const INSTALL: Readonly<Record<AppForm, string>> = {
  web: 'Embed the widget',
  native: 'Write the client (only the web has a package)',
  unknown: 'Embed the widget in web pages, write a client for other platforms',
};

/** Where writes wait for a person: nothing shows what they bring about. */
const NEEDS_PROPOSED: Readonly<Partial<Record<StepId, string>>> = {
  knowledge: 'POST /knowledge: help pages, FAQ, policies.',
  test: 'POST /smoke once, see "Begin", 4.',
};

/** A Markdown table in the order of the panel. */
export function renderSteps(writes: WriteMode, form: AppForm): string {
  const install = `${INSTALL[form]}, see "In the app". POST /events \`started\`, then \`done\`.`;
  const needs = { ...NEEDS, ...(writes === 'propose' ? NEEDS_PROPOSED : {}), install };
  const rows = STEPS.map(({ id, closedBy }, at) => `| ${at + 1} | ${id} | ${closedBy} | ${needs[id]} |`);
  return ['| | step | closed by | needs |', '|---|---|---|---|', ...rows].join('\n');
}
