/**
 * What people get of an app, now or once it is live, and who brings that about (LIVE-2): said beforehand in
 * the setup file, GET /context and GET /status, and afterwards by POST /complete and the panel.
 */
import type { AppRecord } from '../../storage/apps/apps.ts';

/** As it travels. */
export interface Release {
  readonly auto_go_live: boolean;
  readonly publish_on_go_live: boolean;
  /** Null: nothing was published, people get the default look and persona. */
  readonly published_version: number | null;
  /** What happens next, and by whom; a few sentences. */
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

/** Where the app stands with regard to people. */
export function releaseOf(app: AppRecord): Release {
  const { autoGoLive, publishOnGoLive } = app.settings;
  const publishes = !app.live && publishOnGoLive && app.publishedVersion === null;
  return {
    auto_go_live: autoGoLive,
    publish_on_go_live: publishOnGoLive,
    published_version: app.publishedVersion,
    note: `${whoTakesItLive(app)} ${whatPeopleGet(app, publishes)}`,
  };
}
