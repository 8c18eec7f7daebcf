/** Console: writes of sync sessions that wait for a person (PROPOSAL-2, PROPOSAL-4). */
import { compareProposal } from '../../actors/configuration/proposal-comparison.ts';
import { approveProposal, rejectProposal } from '../../actors/configuration/proposals.ts';
import { rejectProposalBody } from '../../protocol/console/sessions.ts';
import type { WholeProposal } from '../../protocol/console/setup-answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import {
  listProposals,
  organisationOfProposal,
  type Proposal,
  type ProposalState,
  readProposal,
  readWrite,
} from '../../storage/setup/proposals.ts';
import { proposalToWire, wholeProposalToWire } from '../proposal-wire.ts';
import { consoleRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { appRead } from './app-read.ts';
import { pageOf } from './pages.ts';

function noSuchProposal(id = ''): Refusal {
  return new Refusal('not_found', `There is no proposal ${id}.`);
}

export function requireProposal({ storage }: Services, id: string | undefined): { organisationId: string; proposal: Proposal } {
  const organisationId = id === undefined ? undefined : organisationOfProposal(storage.control, id);
  const proposal = id === undefined || organisationId === undefined ? undefined : readProposal(storage.organisation(organisationId), id);
  if (organisationId === undefined || proposal === undefined) throw noSuchProposal(id);
  return { organisationId, proposal };
}

const STATES_OF_STATUS: ReadonlyMap<string, readonly ProposalState[]> = new Map([
  ['pending', ['pending', 'applying']],
  ['approved', ['approved']],
  ['rejected', ['rejected']],
  ['replaced', ['replaced']],
]);

/** The states that `status` asks for; undefined without it: all. @throws Refusal 400 invalid_request for a status that there is not. */
function statesOf(query: URLSearchParams): readonly ProposalState[] | undefined {
  const status = query.get('status');
  if (status === null) return undefined;
  const states = STATES_OF_STATUS.get(status);
  if (states === undefined) throw new Refusal('invalid_request', `status must be one of ${[...STATES_OF_STATUS.keys()].join(', ')}.`);
  return states;
}

const listProposalsRoute = appRead('/proposals', ({ app, db }, query) => {
  const states = statesOf(query);
  const { items, next } = pageOf(query, 'id', (after, limit) => listProposals(db, app.id, after, limit, states));
  return { proposals: items.map(proposalToWire), next };
});

export const readProposalRoute = consoleRoute('GET', '/proposals/:proposal', undefined, ({ params }, services) => {
  const { organisationId, proposal } = requireProposal(services, params.proposal);
  const db = services.storage.organisation(organisationId);
  const whole = wholeProposalToWire(db, proposal);
  const write = readWrite(db, proposal.id);
  if (whole === undefined || write === undefined) throw noSuchProposal(proposal.id);
  const rows = { db, appId: proposal.appId, surroundings: services.writes.surroundings };
  // Once it is decided, what the app has says nothing about it.
  const comparison = proposal.decidedAtMs === null ? compareProposal(rows, proposal, write) : null;
  return json<{ readonly proposal: WholeProposal }>({ proposal: { ...whole, comparison } });
});

const approveProposalRoute = consoleRoute('POST', '/proposals/:proposal/approve', undefined, async ({ params }, services) => {
  const { organisationId, proposal } = requireProposal(services, params.proposal);
  const written = await approveProposal(services.writes, organisationId, proposal);
  await services.setup.settled(organisationId, proposal.appId);
  return json({ status: 'approved', result: written.reply });
});

const rejectProposalRoute = consoleRoute('POST', '/proposals/:proposal/reject', rejectProposalBody, async ({ params, body }, services) => {
  const { organisationId, proposal } = requireProposal(services, params.proposal);
  await rejectProposal(services.writes, organisationId, proposal, body.reason ?? null);
  return json({ status: 'rejected' });
});

export const proposalRoutes: readonly Route[] = [listProposalsRoute, readProposalRoute, approveProposalRoute, rejectProposalRoute];
