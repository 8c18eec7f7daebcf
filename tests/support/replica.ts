/** What tests of the continuous replica share: a service that is replicated, the Litestream that it runs, and what the operator sees of both. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from './eventually.ts';
import { litestreamBin } from './litestream.ts';
import { type RunningService, type StartOptions, startService } from './service.ts';
import { temporaryDir } from './temporary-dir.ts';

interface Readiness {
  readonly status: string;
  readonly conditions?: readonly { readonly condition: string; readonly detail?: string }[];
}

export interface Replicated extends RunningService {
  /** The pid of the Litestream that runs, or ran last. */
  litestreamPid(): Promise<number>;
  ready(): Promise<Readiness>;
  /** What `replica_behind` says; undefined while it does not hold. */
  behind(): Promise<string | undefined>;
  metric(name: string): Promise<number>;
  ask(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
  /** An organisation with an app, so with a file. Returns its id. */
  addOrganisation(name?: string): Promise<string>;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** What is in a file that others make and take away; '' while it is not there. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Starts a service whose Litestream ends with the test, whatever becomes of it. */
export async function startReplicated(t: TestContext, url: string, options: StartOptions = {}): Promise<Replicated> {
  const dataDir = options.dataDir ?? temporaryDir(t);
  const env = { LITESTREAM_BIN: litestreamBin(), REPLICA_URL: url, ...options.env };
  const service = await startService(t, { ...options, dataDir, env });
  const headers = { Authorization: `Bearer ${service.operatorToken}`, 'Content-Type': 'application/json' };
  const ready = async () => (await (await fetch(`${service.baseUrl}/readyz`, { headers })).json()) as Readiness;
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${service.baseUrl}/console/api${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return {
    ...service,
    ask,
    ready,
    async litestreamPid() {
      const path = join(dataDir, 'replica', 'litestream.pid');
      // It has none while it is started anew with another configuration.
      let pid = 0;
      await eventually(() => {
        pid = Number(textOf(path));
        return pid > 0;
      });
      return pid;
    },
    async behind() {
      const { conditions = [] } = await ready();
      return conditions.find(({ condition }) => condition === 'replica_behind')?.detail;
    },
    async metric(name) {
      const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
      const line = text.split('\n').find((each) => each.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1));
    },
    async addOrganisation(name = 'Newcomer') {
      const { org } = (await ask('POST', '/orgs', { name })).body as { org: { id: string } };
      await ask('POST', `/orgs/${org.id}/apps`, { name: `${name}'s first app` });
      return org.id;
    },
  };
}

/** Names of files below a folder, with slashes; none when there is no folder. */
export function filesBelow(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir, { recursive: true }).map(String) : [];
}
