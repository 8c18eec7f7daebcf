/** Cells of one installation in one process: each with its own data directory and gateway, all with one master key. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { CellClient } from '../../../actors/cells/cell-client.ts';
import type { CellMap } from '../../../actors/cells/cell-map.ts';
import { CELL_HEADERS, CellProofs } from '../../../actors/cells/cell-proof.ts';
import type { Cells } from '../../../actors/cells/cells.ts';
import { CellDirectory } from '../../../actors/cells/directory.ts';
import { cellRoutes } from '../../../gateway/cells/routes.ts';
import type { Route } from '../../../gateway/route.ts';
import { createApp } from '../../../storage/apps/app-creation.ts';
import { openVault, type Vault } from '../../../storage/secrets/vault.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { serveFake } from '../../support/fake-server.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { serve, type TestServer } from '../test-server.ts';

export const OPERATOR_TOKEN = 'operator-token-of-these-tests';
export const START = Date.UTC(2026, 10, 21);
export const DEVICE = 'c'.repeat(32);

export interface Cell extends TestServer {
  readonly id: string;
  readonly storage: Storage;
  readonly cells: Cells;
  /** Lines of its log, at debug. */
  readonly lines: readonly Record<string, unknown>[];
  /** Calls of its cell interface since the start, by path. */
  readonly questions: readonly string[];
}

export interface Placed {
  readonly organisationId: string;
  readonly appId: string;
  readonly key: string;
  /** Headers of an SDK. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface World {
  readonly clock: { nowMs: number };
  readonly masterKey: string;
  cell(id: string, routes: readonly Route[]): Promise<Cell>;
  /** Every cell knows every other one. `urls` replaces addresses. */
  introduce(cells: readonly Cell[], urls?: Readonly<Record<string, string>>): Promise<void>;
  /** A new organisation with a live app on this cell. */
  place(cell: Cell): Promise<Placed>;
}

const NO_MAP = {
  syncedAtMs: 0,
  publish: () => Promise.resolve(),
  sync: () => Promise.resolve(),
  close: () => Promise.resolve(),
} as unknown as CellMap;

/** Cells of an earlier release, which say none of their names. */
const NO_HOMES = { find: async () => undefined, covers: () => false };

export function createWorld(t: TestContext): World {
  const clock = { nowMs: START };
  const nowMs = () => clock.nowMs;
  const masterKey = randomBytes(32).toString('base64');
  let organisations = 0;
  return {
    clock,
    masterKey,
    async cell(id, routes) {
      const storage = openStorage({ dataDir: temporaryDir(t), masterKey, onFatal: () => {} });
      const questions: string[] = [];
      class CountedClient extends CellClient {
        override call(...asked: Parameters<CellClient['call']>) {
          questions.push(`${asked[0]} ${asked[2]}`);
          return super.call(...asked);
        }
      }
      const client = new CountedClient(id, storage, { nowMs });
      const directory = new CellDirectory({ self: id, storage, client, homes: NO_HOMES, nowMs });
      const cells: Cells = { self: { id, url: '' }, directory, client, map: NO_MAP, close: async () => client.close() };
      const lines: Record<string, unknown>[] = [];
      const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
      const config = { publicUrl: undefined, operatorToken: OPERATOR_TOKEN, allowPrivateAddresses: false };
      const server = await serve(t, [...routes, ...cellRoutes], { config, storage, cells, log, nowMs });
      t.after(async () => {
        await cells.close();
        await storage.close();
      });
      return { ...server, id, storage, cells, lines, questions };
    },
    async introduce(cells, urls = {}) {
      const addresses = { ...Object.fromEntries(cells.map(({ id, base }) => [id, base])), ...urls };
      const all = Object.entries(addresses).map(([cell, url]) => ({ cell, url, seenAtMs: clock.nowMs, term: 1 }));
      for (const { storage } of cells) await storage.writeControl('seeCells', { cells: all });
    },
    async place({ storage }) {
      organisations += 1;
      const organisationId = `org_${String(organisations).padStart(24, '0')}`;
      const autoTopUp = { enabled: false, amount_usd: 10 };
      const organisation = { id: organisationId, name: 'Acme', plan: 'free', members: [], autoTopUp, nowMs: clock.nowMs } as const;
      await storage.writeControl('createOrganisation', organisation);
      const settings = { allowed_domains: ['shop.example'] };
      const made = await createApp(storage, { organisationId, name: 'Shop', platformHint: 'web', settings, nowMs: clock.nowMs });
      const appId = made.app.id;
      await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: clock.nowMs });
      const key = made.keys.live;
      return { organisationId, appId, key, headers: { 'X-Service-Key': key, 'X-Service-Device': DEVICE } };
    },
  };
}

/** A program at another cell's address that is not ours: answers as the test says, with the proof of a cell if it has its key. Returns its address. */
export async function standIn(t: TestContext, handle: http.RequestListener, masterKey?: string): Promise<string> {
  const { url, close } = await serveFake(masterKey === undefined ? handle : proven(openVault('', masterKey), handle));
  t.after(close);
  return url();
}

/** Answers as a cell with this vault does. */
export function proven(vault: Vault, handle: http.RequestListener): http.RequestListener {
  const proofs = new CellProofs(vault, Date.now);
  return (request, answer) => {
    const writeHead = answer.writeHead.bind(answer);
    const token = String(request.headers[CELL_HEADERS.token]);
    Object.assign(answer, {
      writeHead(status: number, ...rest: []) {
        answer.setHeader(CELL_HEADERS.proof, proofs.answer(token, status, String(answer.getHeader(CELL_HEADERS.miss) ?? '')));
        return writeHead(status, ...rest);
      },
    });
    handle(request, answer);
  };
}

export interface Told {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  readonly json: { readonly error?: { readonly code: string; readonly message: string }; readonly [field: string]: unknown };
}

/** One request on a connection of its own. */
export async function send(
  base: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: Buffer | string | object,
): Promise<Told> {
  const isJson = body !== undefined && !Buffer.isBuffer(body) && typeof body !== 'string';
  const request = http.request(base + path, {
    method,
    agent: false,
    headers: { ...(isJson ? { 'Content-Type': 'application/json' } : {}), ...headers },
  });
  request.end(isJson ? JSON.stringify(body) : body);
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const text = bytes.length < 100_000 ? bytes.toString() : '';
  const json = text.startsWith('{') ? (JSON.parse(text) as Told['json']) : {};
  return { status: answer.statusCode ?? 0, headers: answer.headers, rawHeaders: answer.rawHeaders, bytes, json };
}

/** The answer is this refusal. */
export function assertRefused(told: Told, status: number, code: string, message: RegExp): void {
  assert.deepEqual([told.status, told.json.error?.code], [status, code], told.bytes.toString());
  assert.match(told.json.error?.message ?? '', message);
}
