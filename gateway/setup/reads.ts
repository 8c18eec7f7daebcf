/** GET /context and /status, POST and GET /smoke: what an agent reads, and the test it asks for (SETUP-38, SETUP-45, SMOKE-3). */
import { readAppStatus, smokeFacts } from '../../actors/setup/app-status.ts';
import { panelSteps } from '../../actors/setup/panel.ts';
import { releaseOf } from '../../actors/setup/release.ts';
import { Refusal } from '../../protocol/errors.ts';
import { readProposal } from '../../storage/setup/proposals.ts';
import { readSession } from '../../storage/setup/setup-sessions.ts';
import { readLatestSmokeRun } from '../../storage/setup/smoke-runs.ts';
import { renderInPieces } from '../http/json-pieces.ts';
import { smokeRunToWire } from '../http/wire.ts';
import { wholeProposalToWire } from '../proposal-wire.ts';
import { json, type Route, setupRoute } from '../route.ts';
import { publicUrlOf } from './addresses.ts';
import { CONTEXT_DEPTH, readContext } from './context/context.ts';

const contextRoute = setupRoute('GET', '/context', undefined, async ({ caller: { app, row, writes }, header, query }, services) => {
  const {
    storage,
    writes: { surroundings, models },
  } = services;
  const db = storage.organisation(app.organisationId);
  const publicUrl = publicUrlOf(services, header);
  const context = await readContext({
    db,
    control: storage.control,
    app,
    session: row,
    writes,
    publicUrl,
    surroundings,
    models,
    sourcesAfter: query.get('sources_after') ?? '',
  });
  return { kind: 'rendered-json', status: 200, body: await renderInPieces(context, CONTEXT_DEPTH) };
});

const statusRoute = setupRoute('GET', '/status', undefined, async ({ caller: { app, ref, row } }, { setup, storage, writes }) => {
  // Updates the panel with what was observed since the last write.
  await setup.sessions.observe(ref.organisationId, ref.appId);
  const db = storage.organisation(ref.organisationId);
  return json({
    ...readAppStatus(db, app),
    release: releaseOf(db, app, writes.models),
    steps: panelSteps(readSession(db, ref.sessionId) ?? row),
  });
});

const runSmokeRoute = setupRoute('POST', '/smoke', undefined, async ({ caller: { ref } }, { setup, smoke }) => {
  const run = await smoke.run(ref.organisationId, ref.appId);
  const { ok, total } = smokeFacts(run);
  try {
    await setup.agent.wrote(ref, 'test', `Smoke test: ${ok} of ${total} answers used knowledge or an action.`);
  } finally {
    // The run counts also when its session has ended meanwhile; the agent gets that error.
    await setup.settled(ref.organisationId, ref.appId);
  }
  return json(smokeRunToWire(run));
});

const readSmokeRoute = setupRoute('GET', '/smoke', undefined, ({ caller: { ref } }, { storage }) => {
  const run = readLatestSmokeRun(storage.organisation(ref.organisationId), ref.appId);
  return json(run === undefined ? { run: null } : smokeRunToWire(run));
});

const readProposalRoute = setupRoute('GET', '/proposals/:proposal', undefined, ({ caller: { ref }, params }, { storage }) => {
  const db = storage.organisation(ref.organisationId);
  const proposal = readProposal(db, params.proposal ?? '');
  const whole = proposal?.appId === ref.appId ? wholeProposalToWire(db, proposal) : undefined;
  if (whole === undefined)
    throw new Refusal('not_found', `There is no proposal ${params.proposal ?? ''} of this app, or it was forgotten.`);
  return json({ proposal: whole });
});

export const readRoutes: readonly Route[] = [contextRoute, statusRoute, runSmokeRoute, readSmokeRoute, readProposalRoute];
