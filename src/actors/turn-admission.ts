/** What keeps a turn from starting at all, before its conversation is asked (service.md "Limits", "Versioning"). */
import semver from 'semver';
import { Refusal } from '../protocol/errors.ts';
import type { Storage } from '../storage/storage.ts';
import { isCreditExhaustedLately } from '../storage/usage.ts';
import type { TurnCommand } from './turn-command.ts';

/** @throws Refusal `upgrade_required` when the build is below the app's floor for its platform. */
function refuseOldBuild({ app, body }: TurnCommand): void {
  const [platform = '', version = ''] = body.client.sdk.split('/');
  const floor = Object.hasOwn(app.settings.minSdk, platform) ? app.settings.minSdk[platform] : undefined;
  if (floor === undefined || semver.gte(version, floor)) return;
  throw new Refusal(
    'upgrade_required',
    `This build is too old (${platform}/${version}). Update the app: the assistant needs ${platform}/${floor} or later.`,
  );
}

/**
 * Refuses what no row of the conversation can change.
 * @throws Refusal `quota_exceeded` (suspended app; credit used up, for new conversations), `upgrade_required`.
 */
export function refuseTurn(command: TurnCommand, isNewConversation: boolean, storage: Storage, nowMs: number): void {
  const { app, channel, organisationId } = command;
  if (app.settings.suspended) throw new Refusal('quota_exceeded', 'This app is suspended. Its operator can lift that in the console.');
  refuseOldBuild(command);
  if (channel !== 'live' || !isNewConversation || !app.settings.hardCap) return;
  if (isCreditExhaustedLately(storage.control, storage.organisation(organisationId), organisationId, nowMs)) {
    throw new Refusal('quota_exceeded', "The organisation's usage credit is used up. Add credit or change the plan in the console.");
  }
}

/** What a turn_id gets that names another turn than the one it is sent with (decisions §4). */
export function reusedTurnId(): Refusal {
  return new Refusal(
    'invalid_request',
    'turn_id was used before with another body, device or person. Mint a new one for every turn and resend a retry unchanged.',
  );
}
