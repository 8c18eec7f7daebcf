/** Finds the organisation of a name (a key, a token, a code or an id) in this cell's own rows (CELL-1). */
import type { Name } from '../../actors/cells/directory.ts';
import { readConversationHead } from '../../storage/conversations/transcripts.ts';
import { cellOf, isOrganisationKnown } from '../../storage/moving/placements.ts';
import { listOrganisations, organisationOfApp } from '../../storage/organisations/organisations.ts';
import { organisationOfPairing } from '../../storage/setup/pairings.ts';
import { organisationOfProposal } from '../../storage/setup/proposals.ts';
import { findSession, readCode, readToken } from '../../storage/setup/setup-access.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { readIfThere } from '../../storage/sqlite/storage-error.ts';
import type { Storage } from '../../storage/storage.ts';

/** How many files are searched for a conversation without an app; the console's limit is the same. */
const ORGANISATIONS_SEARCHED = 100;

function searchConversation(storage: Storage, self: string, id: string): string | undefined {
  const livesHere = (organisationId: string) => cellOf(storage.control, self, organisationId) === self;
  const holds = (db: Connection) => readConversationHead(db, id) !== undefined;
  return listOrganisations(storage.control, '', ORGANISATIONS_SEARCHED).find(
    // Opening the file of an organisation that lives elsewhere would create it.
    (organisation) => livesHere(organisation.id) && readIfThere(() => holds(storage.organisation(organisation.id)), false),
  )?.id;
}

/** The organisation, wherever it lives now; undefined when no row of this cell knows the name. `self`: this cell. */
export function organisationOfName(storage: Storage, self: string, { kind, name }: Name): string | undefined {
  const { control } = storage;
  switch (kind) {
    case 'key':
      return storage.key(name)?.organisationId;
    case 'setup_token':
      return readToken(control, name)?.organisationId;
    case 'setup_code':
      return readCode(control, name)?.organisationId;
    case 'organisation':
      return isOrganisationKnown(control, name) ? name : undefined;
    case 'app':
      return organisationOfApp(control, name);
    case 'session':
      return findSession(control, name)?.organisationId;
    case 'pairing':
      return organisationOfPairing(control, name);
    case 'proposal':
      return organisationOfProposal(control, name);
    case 'conversation':
      return searchConversation(storage, self, name);
  }
}
