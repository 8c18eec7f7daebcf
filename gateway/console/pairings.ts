/** Console: the Test page, on which a person watches what a test build does (PAIRING-7, PAIRING-8). */

import type { PairingState } from '../../actors/pairing/state.ts';
import { Refusal } from '../../protocol/errors.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { organisationOfPairing, type PairingRow, readPairing } from '../../storage/setup/pairings.ts';
import { seqAfter } from '../http/request-headers.ts';
import { consoleRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { appRoute } from './app-read.ts';
import { shownDevice } from './conversations.ts';

function pairingToWire(row: PairingRow, state: PairingState) {
  return {
    id: row.id,
    app_id: row.appId,
    state,
    device: shownDevice(row.deviceId),
    created_at: timestamp(row.createdAtMs),
    code_expires_at: timestamp(row.codeExpiresAtMs),
    claimed_at: timestamp(row.claimedAtMs),
    watched_until: timestamp(row.watchedUntilMs),
  };
}

function requirePairing({ storage }: Services, id = ''): { organisationId: string; row: PairingRow } {
  const organisationId = organisationOfPairing(storage.control, id);
  const row = organisationId === undefined ? undefined : readPairing(storage.organisation(organisationId), id);
  if (organisationId === undefined || row === undefined) throw new Refusal('not_found', `There is no pairing ${id}.`);
  return { organisationId, row };
}

export const openPairingRoute = appRoute('POST', '/pairings', undefined, async ({ app }, _, services) => {
  const { id, code, codeExpiresAtMs } = await services.pairings.open(app);
  return json({ pairing_id: id, code, expires_at: timestamp(codeExpiresAtMs) }, 201);
});

export const readPairingRoute = consoleRoute('GET', '/pairings/:pairing', undefined, async ({ params }, services) => {
  const { organisationId, row } = requirePairing(services, params.pairing);
  return json({ pairing: pairingToWire(row, await services.pairings.toldState(organisationId, row)) });
});

export const pairingStreamRoute = consoleRoute('GET', '/pairings/:pairing/stream', undefined, async ({ params, header }, services) => {
  const { organisationId, row } = requirePairing(services, params.pairing);
  await services.pairings.toldState(organisationId, row);
  const source = services.pairings.watch({ organisationId, pairingId: row.id }).source(pairingToWire);
  return { kind: 'stream', source: Promise.resolve({ source, fromSeq: seqAfter(header('last-event-id'), 0) }) };
});

export const pairingRoutes: readonly Route[] = [openPairingRoute, readPairingRoute, pairingStreamRoute];
