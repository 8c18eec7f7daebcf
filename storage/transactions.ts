/** Every write, by name: the writer thread runs these, one committed group at a time. */
import * as apps from './apps/apps.ts';
import * as assets from './apps/assets.ts';
import * as goingLive from './apps/going-live.ts';
import * as httpActions from './apps/http-actions.ts';
import * as manifests from './apps/manifests.ts';
import * as screens from './apps/screens.ts';
import * as sharedKeys from './apps/shared-keys.ts';
import * as appHours from './billing/app-hours.ts';
import * as memberMails from './billing/member-mails.ts';
import * as topUps from './billing/top-ups.ts';
import * as feedback from './conversations/feedback.ts';
import * as invocations from './conversations/invocations.ts';
import * as placeholders from './conversations/placeholders.ts';
import * as ratings from './conversations/ratings.ts';
import * as turnOpenings from './conversations/turn-openings.ts';
import * as turns from './conversations/turns.ts';
import * as embeddingModel from './knowledge/embedding-model.ts';
import * as knowledge from './knowledge/knowledge.ts';
import * as knowledgeVectors from './knowledge/knowledge-vectors.ts';
import * as arrivals from './moving/arrivals.ts';
import * as cellTerm from './moving/cell-term.ts';
import * as cells from './moving/cells.ts';
import { keepMovingRowsStill } from './moving/control-rows.ts';
import * as moves from './moving/moves.ts';
import * as placements from './moving/placements.ts';
import * as seal from './moving/seal.ts';
import * as installation from './organisations/installation.ts';
import * as leases from './organisations/leases.ts';
import * as organisationUses from './organisations/organisation-uses.ts';
import * as organisations from './organisations/organisations.ts';
import * as devices from './people/devices.ts';
import * as endUsers from './people/end-users.ts';
import * as personErasure from './people/person-erasure.ts';
import * as pairings from './setup/pairings.ts';
import * as proposals from './setup/proposals.ts';
import * as rehearsals from './setup/rehearsals.ts';
import * as setupAccess from './setup/setup-access.ts';
import * as setupSessions from './setup/setup-sessions.ts';
import * as smokeRuns from './setup/smoke-runs.ts';
import type { Connection } from './sqlite/connection.ts';
import { openWriter } from './sqlite/database.ts';
import * as traces from './traces/traces.ts';
import * as uploads from './uploads/uploads.ts';

export { sealing } from './moving/seal.ts';

/** Erasures: their data must not remain in a write-ahead log either. */
export const erasing: ReadonlySet<string> = new Set(['erasePerson', 'eraseConversation', 'deleteApp']);

export function open(path: string): Connection {
  // Files are created before the first write; a missing one must not come back empty.
  const connection = openWriter(path, { mustExist: true });
  keepMovingRowsStill(connection);
  return connection;
}

export const transactions = {
  ...installation.transactions,
  ...organisations.transactions,
  ...organisationUses.transactions,
  ...cellTerm.transactions,
  ...cells.transactions,
  ...placements.transactions,
  ...moves.transactions,
  ...arrivals.transactions,
  ...seal.transactions,
  ...apps.transactions,
  ...assets.transactions,
  ...leases.transactions,
  ...manifests.transactions,
  ...embeddingModel.transactions,
  ...knowledge.transactions,
  ...knowledgeVectors.transactions,
  ...httpActions.transactions,
  ...sharedKeys.transactions,
  ...screens.transactions,
  ...placeholders.transactions,
  ...proposals.transactions,
  ...rehearsals.transactions,
  ...setupAccess.transactions,
  ...setupSessions.transactions,
  ...goingLive.transactions,
  ...smokeRuns.transactions,
  ...devices.transactions,
  ...appHours.transactions,
  ...memberMails.transactions,
  ...topUps.transactions,
  ...turnOpenings.transactions,
  ...turns.transactions,
  ...uploads.transactions,
  ...invocations.transactions,
  ...feedback.transactions,
  ...ratings.transactions,
  ...pairings.transactions,
  ...endUsers.transactions,
  ...personErasure.transactions,
  ...traces.transactions,
};
