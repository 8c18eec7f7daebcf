/** The table of contents of every write: the writer thread runs these by name, one committed group at a time. */
import * as apps from './apps.ts';
import * as arrivals from './arrivals.ts';
import * as assets from './assets.ts';
import * as cells from './cells.ts';
import type { Connection } from './connection.ts';
import { keepMovingRowsStill } from './control-rows.ts';
import { openWriter } from './database.ts';
import * as devices from './devices.ts';
import * as endUsers from './end-users.ts';
import * as feedback from './feedback.ts';
import * as goingLive from './going-live.ts';
import * as httpActions from './http-actions.ts';
import * as installation from './installation.ts';
import * as invocations from './invocations.ts';
import * as knowledge from './knowledge.ts';
import * as knowledgeVectors from './knowledge-vectors.ts';
import * as leases from './leases.ts';
import * as manifests from './manifests.ts';
import * as moves from './moves.ts';
import * as organisations from './organisations.ts';
import * as pairings from './pairings.ts';
import * as personErasure from './person-erasure.ts';
import * as placeholders from './placeholders.ts';
import * as placements from './placements.ts';
import * as proposals from './proposals.ts';
import * as ratings from './ratings.ts';
import * as screens from './screens.ts';
import * as seal from './seal.ts';
import * as setupAccess from './setup-access.ts';
import * as setupSessions from './setup-sessions.ts';
import * as sharedKeys from './shared-keys.ts';
import * as smokeRuns from './smoke-runs.ts';
import * as topUps from './top-ups.ts';
import * as turnOpenings from './turn-openings.ts';
import * as turns from './turns.ts';
import * as uploads from './uploads.ts';
import * as usageMails from './usage-mails.ts';

export { sealing } from './seal.ts';

/** What people, or the law, want gone: nothing of it may be left in a write-ahead log either. */
export const erasing: ReadonlySet<string> = new Set(['erasePerson', 'deleteApp']);

export function open(path: string): Connection {
  // Files are made before the first write: one that is gone must not come back empty.
  const connection = openWriter(path, { mustExist: true });
  keepMovingRowsStill(connection);
  return connection;
}

export const transactions = {
  ...installation.transactions,
  ...organisations.transactions,
  ...cells.transactions,
  ...placements.transactions,
  ...moves.transactions,
  ...arrivals.transactions,
  ...seal.transactions,
  ...apps.transactions,
  ...assets.transactions,
  ...leases.transactions,
  ...manifests.transactions,
  ...knowledge.transactions,
  ...knowledgeVectors.transactions,
  ...httpActions.transactions,
  ...sharedKeys.transactions,
  ...screens.transactions,
  ...placeholders.transactions,
  ...proposals.transactions,
  ...setupAccess.transactions,
  ...setupSessions.transactions,
  ...goingLive.transactions,
  ...smokeRuns.transactions,
  ...devices.transactions,
  ...usageMails.transactions,
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
};
