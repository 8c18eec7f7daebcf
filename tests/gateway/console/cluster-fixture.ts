/** A gateway with the routes about nodes and actors, over a cluster that the test makes up. */
import type { TestContext } from 'node:test';
import type { ActorRecord } from '../../../actors/actor-record.ts';
import type { ClusterView } from '../../../actors/cluster/nodes/census.ts';
import type { NodeRecord } from '../../../actors/cluster/nodes/members.ts';
import { nodeRoutes } from '../../../gateway/console/nodes.ts';
import { prepareDataDir } from '../../../storage/data-layout.ts';
import type { Condition } from '../../../storage/health/conditions.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import type { Storage } from '../../../storage/storage.ts';
import { type Answer, createOperator } from '../../support/client.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { serve, type TestServer } from '../test-server.ts';

export const START = Date.UTC(2026, 10, 21, 10);
export const OPERATOR_TOKEN = 'operator-token-of-these-tests';

export function node(name: string, more: Partial<NodeRecord> = {}): NodeRecord {
  const url = 'http://127.0.0.1:8787';
  return { id: `${name}~0123abcd`, name, pid: 4711, cell: null, url, startedAtMs: START, state: 'serving', actors: 0, ...more };
}

export function actor(id: string, more: Partial<ActorRecord> = {}): ActorRecord {
  const of = { organisationId: 'org_1', appId: 'app_1' };
  return { kind: 'conversation', id, node: 'one~0123abcd', ...of, state: 'idle', turnId: null, waiting: 0, sinceMs: START, ...more };
}

export interface ClusterFixture {
  readonly server: TestServer;
  /** Nodes whose drain was asked for, known or not. */
  readonly drained: readonly string[];
  /** A request to `/console/api` + path, as the operator. */
  console(method: string, path: string): Promise<Answer>;
}

export interface MadeUp {
  readonly nodes?: readonly NodeRecord[];
  readonly redis?: 'connected' | 'away' | null;
  readonly actors?: readonly ActorRecord[];
  readonly unreachable?: readonly string[];
  readonly conditions?: readonly Condition[];
}

export async function serveCluster(t: TestContext, madeUp: MadeUp): Promise<ClusterFixture> {
  const { nodes = [node('one')], redis = null, actors = [], unreachable = [] } = madeUp;
  const drained: string[] = [];
  const cluster: ClusterView = {
    nodes: () => nodes,
    elsewhere: async () => [],
    redis: () => redis,
    actors: () => Promise.resolve({ actors, unreachable }),
    conditions: async () => madeUp.conditions ?? [],
    drain(id) {
      drained.push(id);
      return Promise.resolve(nodes.some((known) => known.id === id));
    },
  };
  // Its layout is asked for by who checks the token.
  const layout = prepareDataDir(temporaryDir(t));
  const storage = { layout, vault: openVault(layout.masterKey, undefined) } as unknown as Storage;
  const config = { publicUrl: undefined, operatorToken: OPERATOR_TOKEN, allowPrivateAddresses: false };
  const server = await serve(t, [...nodeRoutes], { config, storage, cluster });
  return { server, drained, console: createOperator(server.base, OPERATOR_TOKEN) };
}

/** The error of a refusal: its status, code and message. */
export function refusal({ status, json }: Answer): { status: number; code: string; message: string } {
  const { error } = json as { error: { code: string; message: string } };
  return { status, code: error.code, message: error.message };
}
