/** Console: writes of sync sessions that wait for a person (decisions §2, §3). */
import { approveProposal, rejectProposal } from '../../actors/proposals.ts';
import { rejectProposalBody } from '../../protocol/console/sessions.ts';
import { Refusal } from '../../protocol/errors.ts';
import { listProposals, organisationOfProposal, type Proposal, readProposal } from '../../storage/proposals.ts';
import { proposalToWire, wholeProposalToWire } from '../proposal-wire.ts';
import { defineRoute, json } from '../route.ts';
import type { Services } from '../services.ts';
import { pageOf, requireApp } from './lookup.ts';

function noSuchProposal(id = ''): Refusal {
  return new Refusal('not_found', `There is no proposal ${id}.`);
}

/** @throws Refusal 404 not_found. */
function requireProposal({ storage }: Services, id: string | undefined): { organisationId: string; proposal: Proposal } {
  const organisationId = id === undefined ? undefined : organisationOfProposal(storage.control, id);
  const proposal = id === undefined || organisationId === undefined ? undefined : readProposal(storage.organisation(organisationId), id);
  if (organisationId === undefined || proposal === undefined) throw noSuchProposal(id);
  return { organisationId, proposal };
}

export const listProposalsRoute = defineRoute({
  method: 'GET',
  path: '/console/api/apps/:app/proposals',
  caller: 'operator',
  limits: [],
  body: null,
  handle({ params, query }, services) {
    const { app, db } = requireApp(services, params.app);
    const { items, next } = pageOf(
      query,
      (after, limit) => listProposals(db, app.id, after, limit),
      ({ id }) => id,
    );
    return json({ proposals: items.map(proposalToWire), next });
  },
});

export const readProposalRoute = defineRoute({
  method: 'GET',
  path: '/console/api/proposals/:proposal',
  caller: 'operator',
  limits: [],
  body: null,
  handle({ params }, services) {
    const { organisationId, proposal } = requireProposal(services, params.proposal);
    const whole = wholeProposalToWire(services.storage.organisation(organisationId), proposal);
    if (whole === undefined) throw noSuchProposal(proposal.id);
    return json({ proposal: whole });
  },
});

export const approveProposalRoute = defineRoute({
  method: 'POST',
  path: '/console/api/proposals/:proposal/approve',
  caller: 'operator',
  limits: [],
  body: null,
  async handle({ params }, services) {
    const { organisationId, proposal } = requireProposal(services, params.proposal);
    const written = await approveProposal(services.writes, organisationId, proposal);
    await services.setup.settled(organisationId, proposal.appId);
    return json({ status: 'approved', result: written.reply });
  },
});

export const rejectProposalRoute = defineRoute({
  method: 'POST',
  path: '/console/api/proposals/:proposal/reject',
  caller: 'operator',
  limits: [],
  body: rejectProposalBody,
  async handle({ params, body }, services) {
    const { organisationId, proposal } = requireProposal(services, params.proposal);
    await rejectProposal(services.writes, organisationId, proposal, body.reason ?? null);
    return json({ status: 'rejected' });
  },
});
