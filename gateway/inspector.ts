/** The inspector (INSPECT-1), for viewers that speak the frames of `@statelyai/inspect`. It reads the rows that live pages read. */
import { type InstanceTrace, instanceDefinition } from '../actors/traces/instances.ts';
import { MACHINES } from '../machines/index.ts';
import { Inspection } from '../machines/inspection.ts';
import { machineVersion } from '../machines/version.ts';
import { Refusal } from '../protocol/errors.ts';
import { isSecret } from '../storage/secrets/vault.ts';
import type { Connection } from '../storage/sqlite/connection.ts';
import { readNewestTraces } from '../storage/traces/traces.ts';
import { requireApp } from './console/app-read.ts';
import { findTraces, requireTraces } from './console/traces.ts';
import { bearerOf } from './http/request-headers.ts';
import type { Speaker, UpgradeRequest } from './http/web-socket.ts';
import type { RateBuckets } from './rate-limit.ts';
import type { InspectorConfig, Services } from './services.ts';

export const INSPECTOR_PATH = '/inspect';

/** Instances of an app that are followed at a time, the newest: more is no picture that anybody reads. */
const FOLLOWED_MAX = 8;
/** What the newest instances are looked for in: well below a millisecond. */
const SEARCHED = 200;
/** Looks between two searches for new instances: once a second. */
const LOOKS_PER_SEARCH = 5;
/** Characters that one look sends; the rest waits for the next one. */
const LOOK_MAX_CHARS = 64 * 1_024;
/** Instances of one viewer whose place is remembered; of a forgotten one it is told again where it is. */
const KNOWN_MAX = 256;

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).origin;
}

/** A client that is no browser has no origin. @throws Refusal 403 origin_not_allowed */
function checkViewerOrigin({ header }: UpgradeRequest, { publicUrl }: Services['config'], { origins }: InspectorConfig): void {
  const origin = header('origin');
  const own = originOf(publicUrl) ?? `http://${header('host')}`;
  if (origin === '' || origin === own || origins.includes(origin)) return;
  throw new Refusal('origin_not_allowed', `The origin ${origin.slice(0, 200)} is not among INSPECTOR_ORIGINS.`);
}

/** @throws Refusal 401 missing_token, invalid_token; 429 rate_limited after too many wrong ones from the address (SAFE-5) */
function checkToken({ header, query, address }: UpgradeRequest, { token }: InspectorConfig, buckets: RateBuckets): void {
  const given = bearerOf(header('authorization')) ?? query.get('token');
  if (given === null) throw new Refusal('missing_token', 'Send INSPECTOR_TOKEN as token in the address, or as bearer.');
  buckets.refuseGuesses('inspector', address);
  if (isSecret(given, token)) return;
  buckets.failed('inspector', address);
  throw new Refusal('invalid_token', 'This is not the INSPECTOR_TOKEN.');
}

type Read = () => readonly InstanceTrace[];

/** Queries of the newest instances of an app, as `findTraces` takes them. */
function newestQueries(db: Connection, appId: string): URLSearchParams[] {
  return readNewestTraces(db, appId, SEARCHED, FOLLOWED_MAX).map(({ machine, instance }) =>
    machine === 'chat-turn' ? new URLSearchParams({ turn_id: instance }) : new URLSearchParams({ machine, instance }),
  );
}

function namesTrace(query: URLSearchParams): boolean {
  return ['turn_id', 'request_id', 'conversation_id', 'machine', 'instance'].some((name) => query.has(name));
}

/** What the query names, or the newest instances of its app. @throws Refusal 404 not_found, 400 invalid_request */
function readerOf(services: Services, query: URLSearchParams): { readonly read: Read; readonly db: Connection; readonly isNamed: boolean } {
  const { app, db } = requireApp(services, query.get('app') ?? undefined);
  if (namesTrace(query)) {
    requireTraces(db, app.id, query);
    return { read: () => findTraces(db, app.id, query), db, isNamed: true };
  }
  let looks = 0;
  let queries: URLSearchParams[] = [];
  const read = () => {
    if (looks % LOOKS_PER_SEARCH === 0) queries = newestQueries(db, app.id);
    looks += 1;
    return queries.flatMap((each) => findTraces(db, app.id, each));
  };
  return { read, db, isNamed: false };
}

const sessionIdOf = ({ machine, instance }: InstanceTrace) => `${machine}:${instance}`;

/** The turn stands before its calls, as `readTurnTraces` gives them. */
function turnOf(traces: readonly InstanceTrace[], trace: InstanceTrace): InstanceTrace | undefined {
  if (trace.machine !== 'invocation') return undefined;
  return traces.slice(0, traces.indexOf(trace)).findLast(({ machine }) => machine === 'chat-turn');
}

function inspectionOf(db: Connection, trace: InstanceTrace, turn: InstanceTrace | undefined): Inspection {
  const { machine: name, version, isMixed, input, instance } = trace;
  const machine = MACHINES.find((listed) => listed.name === name)?.machine;
  const isOurs = machine !== undefined && !isMixed && machineVersion(machine) === version;
  const graph = instanceDefinition(db, trace);
  return new Inspection({
    sessionId: sessionIdOf(trace),
    name: `${name} ${instance}`,
    ...(turn === undefined ? {} : { parentId: sessionIdOf(turn) }),
    ...(graph === undefined ? {} : { graph }),
    ...(isOurs ? { machine } : {}),
    ...(input === undefined ? {} : { input }),
  });
}

function speakerOf(services: Services, query: URLSearchParams): Speaker {
  const { read, db, isNamed } = readerOf(services, query);
  const known = new Map<string, Inspection>();
  return {
    next() {
      const traces = read();
      if (traces.length === 0 && isNamed) return null;
      const texts: string[] = [];
      let chars = 0;
      for (const trace of traces) {
        if (chars >= LOOK_MAX_CHARS) break;
        const id = sessionIdOf(trace);
        const inspection = known.get(id) ?? inspectionOf(db, trace, turnOf(traces, trace));
        known.set(id, inspection);
        const told = inspection.tell(trace.steps).map((frame) => JSON.stringify(frame));
        texts.push(...told);
        chars += told.reduce((sum, text) => sum + text.length, 0);
      }
      if (known.size > KNOWN_MAX) known.clear();
      return texts;
    },
  };
}

export function admitViewer(request: UpgradeRequest, services: Services, config: InspectorConfig, buckets: RateBuckets): Speaker {
  checkViewerOrigin(request, services.config, config);
  checkToken(request, config, buckets);
  return speakerOf(services, request.query);
}
