/** What people get of an app, now or once it is live, and who brings that about (LIVE-2). */
import { templateAddress } from '../../protocol/setup/addresses.ts';
import { type ModelOffer, unlistedIn } from '../../protocol/setup/model-choice.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import { hasUnpublished, readPersona } from '../../storage/apps/drafts.ts';
import { enabledActions } from '../../storage/apps/http-actions.ts';
import { isForWebsites } from '../../storage/apps/manifests.ts';
import { hasEndedWell } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { counted } from '../configuration/text-format.ts';

/** What people need, whether it is so, and a sentence to act on, or what is so. */
interface ReachCheck {
  readonly key: 'domains' | 'addresses' | 'answered' | 'models';
  readonly label: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface Release {
  readonly auto_go_live: boolean;
  readonly publish_on_go_live: boolean;
  /** Null: nothing was published, people get the default look and persona. */
  readonly published_version: number | null;
  /** The drafts are not what is published. */
  readonly unpublished: boolean;
  /** What people need beside the go-live checks, each that there is something to check of. */
  readonly reach: readonly ReachCheck[];
  /** What keeps people from getting the assistant, or a part of it, though the app is live or all checks pass: the sentences of `reach` that are not ok. */
  readonly obstacles: readonly string[];
  /** What happens next, and by whom, and the obstacles; a few sentences. */
  readonly note: string;
}

function whatPeopleGet(app: AppRecord, publishes: boolean, unpublished: boolean): string {
  if (publishes) return 'Going live publishes the drafts of appearance and assistant as version 1, if there are any.';
  if (app.publishedVersion !== null)
    return `People get version ${app.publishedVersion}${unpublished ? ' until a person publishes the drafts' : ', which matches the drafts'}.`;
  return 'Nothing is published: people get the default appearance and assistant until a person publishes.';
}

function whoTakesItLive({ live, settings }: AppRecord): string {
  if (live) return 'The app is live.';
  if (!settings.autoGoLive) return 'A person takes the app live (auto_go_live is off).';
  return 'The app goes live by itself as soon as all four go-live checks pass and no setup session is open: as a rule with POST /complete.';
}

/** Names of actions in a sentence: with more nobody reads it to its end. */
const NAMES_SHOWN = 5;
const PRODUCTION_ADDRESS = templateAddress(false);

/** Whether the models that were published are still on the operator's list (MODEL-45). */
function modelsCheck(db: Connection, app: AppRecord, models: readonly ModelOffer[] = []): ReachCheck | false {
  const { model } = readPersona(db, app, 'live');
  if (model === null || models.length === 0) return false;
  const gone = unlistedIn(model, models);
  const isOrder = gone.some(({ path }) => path === 'use');
  const instead = isOrder ? 'the models of the installation answer, in its order' : 'the others are asked';
  const names = gone.map(({ name }) => name).join(', ');
  return {
    ...{ key: 'models', label: gone.length === 0 ? 'Models offered' : 'Model no longer offered', ok: gone.length === 0 },
    detail:
      gone.length === 0
        ? 'The installation offers the models that were published.'
        : `${names}: not a model of this installation any more, so ${instead}. Choose again and publish.`,
  };
}

/** None of these is a go-live check: an app goes live without them, and people get less than was meant (LIVE-10). */
function reachOf(db: Connection, app: AppRecord, models: readonly ModelOffer[] | undefined): ReachCheck[] {
  const domains = app.settings.allowedDomains;
  const actions = enabledActions(db, app)?.actions ?? [];
  const local = actions.filter(({ url_template }) => !PRODUCTION_ADDRESS.test(url_template));
  const names = local.slice(0, NAMES_SHOWN).map(({ name }) => name);
  const more = local.length - names.length;
  const answered = hasEndedWell(db, app.id);
  const checks: readonly (ReachCheck | false)[] = [
    isForWebsites(db, app) && {
      ...{ key: 'domains', label: domains.length > 0 ? 'Website allowed' : 'No website allowed yet', ok: domains.length > 0 },
      detail:
        domains.length > 0
          ? `The live key answers on pages of ${counted(domains.length, 'allowed domain')}.`
          : "No domain is allowed, so the live key answers on no page: add the app's hosts to its Allowed domains.",
    },
    actions.length > 0 && {
      ...{ key: 'addresses', label: local.length === 0 ? 'Actions reached' : 'Actions out of reach', ok: local.length === 0 },
      detail:
        local.length === 0
          ? `${counted(actions.length, 'action has', 'actions have')} an address that production reaches.`
          : `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}: the address is of this machine or a private network, which production does not reach. Give the production address.`,
    },
    app.handshakeAtMs !== null && {
      ...{ key: 'answered', label: answered ? 'Answered in the app' : 'No answer in the app yet', ok: answered },
      detail: answered
        ? 'Somebody asked in the app, and was answered.'
        : 'Nobody has had an answer in the app yet: open the app and ask it something.',
    },
    modelsCheck(db, app, models),
  ];
  return checks.filter((check) => check !== false);
}

/** `models`: what an app may choose from; absent: whether the app's are still there is not looked at. */
export function releaseOf(db: Connection, app: AppRecord, models?: readonly ModelOffer[]): Release {
  const { autoGoLive, publishOnGoLive } = app.settings;
  const publishes = !app.live && publishOnGoLive && app.publishedVersion === null;
  const unpublished = hasUnpublished(db, app.id, app.publishedVersion);
  const reach = reachOf(db, app, models);
  const obstacles = reach.filter(({ ok }) => !ok).map(({ detail }) => detail);
  return {
    auto_go_live: autoGoLive,
    publish_on_go_live: publishOnGoLive,
    published_version: app.publishedVersion,
    unpublished,
    reach,
    obstacles,
    note: [whoTakesItLive(app), whatPeopleGet(app, publishes, unpublished), ...obstacles].join(' '),
  };
}
