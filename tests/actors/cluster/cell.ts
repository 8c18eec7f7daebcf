/** Nodes of a cell as actors see them: storages on one directory, what they tell each other, and who is alive, in the test's hand. */
import type { TestContext } from 'node:test';
import pino from 'pino';
import type { Announcer } from '../../../actors/announcements.ts';
import type { Liveness } from '../../../actors/cluster/nodes/heartbeat.ts';
import type { Members, NodeRecord } from '../../../actors/cluster/nodes/members.ts';
import { NodeLeases } from '../../../actors/cluster/nodes/node-leases.ts';
import { createApp } from '../../../storage/apps/app-creation.ts';
import { type AppRecord, readApp } from '../../../storage/apps/apps.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

export const START_MS = Date.parse('2026-11-21T10:00:00.000Z');

export interface CellNode {
  readonly id: string;
  readonly storage: Storage;
  readonly others: Announcer;
  readonly members: Pick<Members, 'self' | 'list' | 'probe' | 'onLost'>;
  readonly leases: NodeLeases;
  app(): AppRecord;
}

export interface Cell {
  readonly a: CellNode;
  readonly b: CellNode;
  readonly organisationId: string;
  readonly appId: string;
  readonly log: pino.Logger;
  readonly logged: readonly string[];
  readonly clock: { nowMs: number };
  nowMs(): number;
  /** Announcements are lost while this is true. */
  deaf: boolean;
  /** Kinds of all announcements so far, lost ones too. */
  readonly announced: readonly string[];
  /** Others than `alive`. */
  readonly liveness: Map<string, Liveness>;
  /** Tells every node that `node` was lost. */
  lose(node: string, how: 'silent' | 'gone'): void;
}

type Handler = (message: never, from: string) => void;

export async function openCell(t: TestContext, { writeWaitMs }: { readonly writeWaitMs?: number } = {}): Promise<Cell> {
  const dataDir = temporaryDir(t);
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const clock = { nowMs: START_MS };
  const nowMs = () => clock.nowMs;
  const announced: string[] = [];
  const liveness = new Map<string, Liveness>();
  /** By node and kind: of a kind a bus has one listener. */
  const handlers = new Map<string, Handler>();
  const other = (id: string) => (id === ids[0] ? ids[1] : ids[0]);
  const losses: ((node: string, how: 'silent' | 'gone', pid: number) => void)[] = [];
  const ids = ['a~00000001', 'b~00000002'] as const;
  const isAlive = (id: string) => (liveness.get(id) ?? 'alive') === 'alive';
  const records = ids.map((id, index) => ({ id, startedAtMs: START_MS + index }) as NodeRecord);
  const organisationId = 'org_000000000000000000000001';
  let appId = '';

  const open = (id: string): CellNode => {
    const storage = openStorage({ dataDir, masterKey: undefined, shared: true, onFatal: () => {} });
    t.after(() => storage.close());
    const members: CellNode['members'] = {
      self: id,
      list: () => records.filter((record) => isAlive(record.id)).sort((one) => (one.id === id ? -1 : 1)),
      probe: async (node) => liveness.get(node) ?? 'alive',
      onLost: (listener) => void losses.push(listener),
    };
    return {
      id,
      storage,
      members,
      leases: new NodeLeases({ storage, members, log, nowMs, ...(writeWaitMs !== undefined && { writeWaitMs }) }),
      others: {
        isAlone: false,
        lookEvery(everyMs, look) {
          const looks = setInterval(look, everyMs);
          t.after(() => clearInterval(looks));
          return () => clearInterval(looks);
        },
        announce(kind, message) {
          announced.push(kind);
          if (cell.deaf) return;
          // As over Redis: later, and a copy.
          const copy = structuredClone(message);
          setImmediate(() => handlers.get(`${other(id)} ${kind}`)?.(copy as never, id));
        },
        listen: (kind, handler) => void handlers.set(`${id} ${kind}`, handler as Handler),
      },
      app() {
        const app = readApp(storage.organisation(organisationId), appId, organisationId);
        if (app === undefined) throw new Error('the app is gone');
        return app;
      },
    };
  };

  const [a, b] = [open(ids[0]), open(ids[1])];
  const cell: Cell = {
    a,
    b,
    organisationId,
    get appId() {
      return appId;
    },
    log,
    logged,
    clock,
    nowMs,
    deaf: false,
    announced,
    liveness,
    lose(node, how) {
      liveness.set(node, how);
      for (const listener of losses) listener(node, how, 1);
    },
  };
  const autoTopUp = { enabled: false, amount_usd: 10 };
  const organisation = { id: organisationId, name: 'Acme', plan: 'free', members: [], autoTopUp, nowMs: START_MS } as const;
  await a.storage.writeControl('createOrganisation', organisation);
  appId = (await createApp(a.storage, { organisationId, name: 'Shop', platformHint: 'web', settings: {}, nowMs: START_MS })).app.id;
  return cell;
}
