/** What people get of an app, now or once it is live, and who brings that about (LIVE-2). */
import { formOf } from '../../protocol/console/apps.ts';
import { templateAddress } from '../../protocol/setup/addresses.ts';
import { type ModelOffer, unlistedIn } from '../../protocol/setup/model-choice.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import { readPersona } from '../../storage/apps/drafts.ts';
import { enabledActions } from '../../storage/apps/http-actions.ts';
import { latestManifest } from '../../storage/apps/manifests.ts';
import { hasEndedWell } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';

export interface Release {
  readonly auto_go_live: boolean;
  readonly publish_on_go_live: boolean;
  /** Null: nothing was published, people get the default look and persona. */
  readonly published_version: number | null;
  /** What keeps people from getting the assistant, or a part of it, though the app is live or all checks pass; sentences to act on. */
  readonly obstacles: readonly string[];
  /** What happens next, and by whom, and the obstacles; a few sentences. */
  readonly note: string;
}

function whatPeopleGet(app: AppRecord, publishes: boolean): string {
  if (publishes) return 'Going live publishes the drafts of look and persona as version 1, if there are any.';
  if (app.publishedVersion !== null)
    return `People get version ${app.publishedVersion} until somebody publishes the drafts in the console.`;
  return 'Nothing is published: people get the default look and persona until somebody publishes in the console.';
}

function whoTakesItLive({ live, settings }: AppRecord): string {
  if (live) return 'The app is live.';
  if (!settings.autoGoLive) return 'A person takes the app live in the console (auto_go_live is off).';
  return 'The app goes live by itself as soon as all four go-live checks pass and no setup session is open: as a rule with POST /complete.';
}

/** Names of actions in a sentence: with more nobody reads it to its end. */
const NAMES_SHOWN = 5;
const PRODUCTION_ADDRESS = templateAddress(false);

/** Whether browsers are to show it: the latest build says so, before the first one the person's hint does. */
function isWebApp(db: Connection, app: AppRecord): boolean {
  const manifest = latestManifest(db, app.id);
  return manifest === undefined ? formOf(app.platformHint) === 'web' : manifest.sdk.startsWith('web/');
}

/** Models that were published and that the operator took off the list since (MODEL-45). */
function goneModels(db: Connection, app: AppRecord, models: readonly ModelOffer[]): string[] {
  const { model } = readPersona(db, app, 'live');
  const gone = model === null ? [] : unlistedIn(model, models);
  if (gone.length === 0) return [];
  const isOrder = gone.some(({ path }) => path === 'use');
  const instead = isOrder ? 'the models of the installation answer, in its order' : 'the others are asked';
  return [
    `${gone.map(({ name }) => name).join(', ')}: not a model of this installation any more, so ${instead}. Choose again and publish.`,
  ];
}

/** None of these is a check: an app goes live with them, and people get less than was meant (LIVE-10). */
function obstaclesOf(db: Connection, app: AppRecord, models: readonly ModelOffer[] | undefined): string[] {
  const local = (enabledActions(db, app)?.actions ?? []).filter(({ url_template }) => !PRODUCTION_ADDRESS.test(url_template));
  const names = local.slice(0, NAMES_SHOWN).map(({ name }) => name);
  const more = local.length - names.length;
  return [
    ...(app.settings.allowedDomains.length === 0 && isWebApp(db, app)
      ? ["No domain is allowed, so the live key answers on no page: add the app's hosts to its Allowed domains in the console."]
      : []),
    ...(local.length > 0
      ? [
          `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}: the address is of this machine or a private network, which production does not reach. Give the production address.`,
        ]
      : []),
    ...(app.handshakeAtMs === null || hasEndedWell(db, app.id)
      ? []
      : ['No turn of a build has ended well yet: ask something in the app itself.']),
    ...(models === undefined ? [] : goneModels(db, app, models)),
  ];
}

/** `models`: what an app may choose from; absent: whether the app's are still there is not looked at. */
export function releaseOf(db: Connection, app: AppRecord, models?: readonly ModelOffer[]): Release {
  const { autoGoLive, publishOnGoLive } = app.settings;
  const publishes = !app.live && publishOnGoLive && app.publishedVersion === null;
  const obstacles = obstaclesOf(db, app, models);
  return {
    auto_go_live: autoGoLive,
    publish_on_go_live: publishOnGoLive,
    published_version: app.publishedVersion,
    obstacles,
    note: [whoTakesItLive(app), whatPeopleGet(app, publishes), ...obstacles].join(' '),
  };
}
