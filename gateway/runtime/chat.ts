/** POST /v1/chat, and re-attaching to and stopping a turn: the routes; what a turn is lives behind the actors' door. */
import { randomUUID } from 'node:crypto';
import type { TurnCommand } from '../../actors/turns/command.ts';
import { Refusal } from '../../protocol/errors.ts';
import { runtimeHeader } from '../../protocol/headers.ts';
import { type ChatRequest, chatRequest } from '../../protocol/runtime/chat.ts';
import { seqAfter } from '../http/request-headers.ts';
import { json, type Route, type RouteInput, type RuntimeCaller, runtimeRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { actingCaller, turnPerson } from './identity.ts';
import { messagesPool, senderPools, writePools } from './pools.ts';

const TURN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Each turn's row has it. Nobody can compute the digest without the key, so this much of it cannot be met by trying. */
const FINGERPRINT_BYTES = 16;

/** What a retry must repeat: the body, the device, the channel and the person (CHAT-10). */
function fingerprint(body: ChatRequest, caller: RuntimeCaller, person: TurnCommand['person'], { storage }: Services): string {
  const repeated = [caller.channel, caller.deviceId, person?.externalUserId, { ...body, turn_id: body.turn_id?.toLowerCase() }];
  // Keyed, because the content of a short message could be guessed from a plain hash.
  const digest = storage.vault.digest('turn', Buffer.from(JSON.stringify(repeated)));
  return digest.subarray(0, FINGERPRINT_BYTES).toString('base64url');
}

/** Whether the request begins new work: not a continuation, whose person waits, and not a retry of a turn that exists, which reads it. */
function beginsSomething(body: unknown, hasTurn: (turnId: string) => boolean): boolean {
  const { tool_results: results, turn_id: turnId } = (body ?? {}) as { readonly tool_results?: unknown; readonly turn_id?: unknown };
  if (Array.isArray(results) && results.length > 0) return false;
  return typeof turnId !== 'string' || !TURN_ID.test(turnId) || !hasTurn(turnId.toLowerCase());
}

/** Why a device is required; part of the error message. */
const WHY = 'a turn is given only to the device that opened it, and to whoever its conversation is';

/** Notes that the app has called in: the first request with a handshake. A turn is answered whether or not that could be written. */
async function callIn({ organisationId, app }: RuntimeCaller, { storage, setup, log, nowMs }: Services): Promise<void> {
  try {
    await storage.write(organisationId, 'noteHandshake', { appId: app.id, nowMs: nowMs() });
    await setup.settled(organisationId, app.id);
  } catch (error) {
    log.error({ err: error, app_id: app.id }, 'recording the first handshake of an app failed: tried again with its next request');
  }
}

function turnCaller(input: RouteInput<null, RuntimeCaller>, services: Services) {
  const turnId = input.params.turn_id ?? '';
  if (!TURN_ID.test(turnId)) throw new Refusal('invalid_request', 'turn_id in the path must be a UUID.');
  return { turnId: turnId.toLowerCase(), caller: actingCaller(input, services, WHY) };
}

/** Made once: a caller keeps its limits for as long as its turn is answered. */
const SENDERS = senderPools('chat');

export const chatRoutes: readonly Route[] = [
  runtimeRoute('POST', '/v1/chat', {
    limits: [messagesPool('chat')],
    body: chatRequest,
    newWork: beginsSomething,
    async handle({ caller, body, requestId, header }, services) {
      const receivedAtMs = services.nowMs();
      const person = turnPerson(body.user, caller, services);
      caller.pass(SENDERS, person?.verified === true ? person.externalUserId : null);
      const command = {
        app: caller.app,
        appId: caller.appId,
        organisationId: caller.organisationId,
        channel: caller.channel,
        deviceId: caller.deviceId,
        address: caller.address,
        person,
        turnId: body.turn_id?.toLowerCase() ?? randomUUID(),
        fingerprint: fingerprint(body, caller, person, services),
        requestId,
        purpose: 'person',
        body,
        userToken: runtimeHeader(header, 'userToken'),
        minuteLeft: caller.minuteLeft,
        receivedAtMs,
      } as const;
      // Once in the life of an app: the turn waits until it is noted.
      const called = caller.app.handshakeAtMs === null ? callIn(caller, services) : undefined;
      const source = called === undefined ? services.actors.openTurn(command) : called.then(() => services.actors.openTurn(command));
      return { kind: 'stream', source };
    },
  }),
  runtimeRoute('GET', '/v1/chat/:turn_id', {
    limits: writePools('attach'),
    async handle(input, services) {
      const { caller, turnId } = turnCaller(input, services);
      const { source, fromSeq } = await services.actors.attachTurn(caller, turnId);
      const wanted = seqAfter(input.header('last-event-id'), 0);
      return { kind: 'stream', source: Promise.resolve({ source, fromSeq: Math.max(fromSeq, wanted) }) };
    },
  }),
  runtimeRoute('POST', '/v1/chat/:turn_id/stop', {
    limits: writePools('stop'),
    async handle(input, services) {
      const { caller, turnId } = turnCaller(input, services);
      return json({ ok: true, stopped: await services.actors.stopTurn(caller, turnId) });
    },
  }),
];
