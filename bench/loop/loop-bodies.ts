/** How long each body of the worst shape keeps the event loop of the running program: `npm run bench:loop -- bodies`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_CORE } from '../servers/processes.ts';
import { createApp, createLiveApp, createOrganisation, type Server, startProgram, withDataDir } from '../servers/service.ts';
import { type Measured, measure, shown, TOLD_FROM_MS } from './loop-meter.ts';
import { WORST_BODIES, type WorstBody } from './worst-bodies.ts';

const OPERATOR_TOKEN = 'bench-operator-token-of-24-chars';
const JSON_BODY = { 'content-type': 'application/json' };

/** Opens a setup session as an agent does. */
async function setupToken({ operator, origin }: Server, appId: string): Promise<string> {
  const { code } = (await operator.call('POST', `/apps/${appId}/sessions`, { kind: 'setup' })) as { code: string };
  const file = await fetch(`${origin}/setup/file?code=${code}`);
  const token = /rd_st_[0-9a-f]{24}/.exec(await file.text())?.[0];
  if (token === undefined) throw new Error(`GET /setup/file answered ${file.status} without a token`);
  await fetch(`${origin}/setup/start`, {
    method: 'POST',
    headers: { ...JSON_BODY, authorization: `Bearer ${token}` },
    body: JSON.stringify({ tool: 'claude_code', model: 'model-1', os: 'linux' }),
  });
  return token;
}

/** Fills an app to its bounds as far as the setup interface's rate lets anybody do it. */
async function fillApp({ origin }: Server, headers: Record<string, string>): Promise<void> {
  for (let batch = 0; batch < 4; batch++) {
    for (const { path, body } of WORST_BODIES.filter(({ name }) => name === '50 actions, 20 params, 38 enum' || name === '50 + 50')) {
      const renamed = String(body).replaceAll(/(search|screen|action-)_?(\d+)"/g, `$1_${batch}_$2"`);
      const answer = await fetch(`${origin}/setup${path}`, { method: 'POST', headers: { ...JSON_BODY, ...headers }, body: renamed });
      await answer.arrayBuffer();
    }
  }
}

async function measureAll(server: Server, logFile: string, bodies: readonly WorstBody[], token: string, liveKey: string) {
  const measured: Measured[] = [];
  const { pid } = server.process;
  const bases = { runtime: '', setup: '/setup', console: '/console/api' };
  for (const round of [0, 1]) {
    for (const { name, face, method, path, body } of bodies) {
      const headers = {
        runtime: { 'X-Service-Key': liveKey, 'X-Service-Device': crypto.randomUUID().replaceAll('-', '') },
        setup: { authorization: `Bearer ${token}` },
        console: { authorization: `Bearer ${OPERATOR_TOKEN}` },
      }[face];
      const sent = typeof body === 'function' ? body(round) : body;
      const send = () =>
        fetch(`${server.origin}${bases[face]}${path}`, {
          method,
          headers: { ...headers, ...(sent === null ? {} : JSON_BODY) },
          ...(sent === null ? {} : { body: sent }),
        });
      measured.push(await measure(pid, logFile, `${round === 0 ? 'first ' : ''}${method} ${path}: ${name}`, send));
    }
  }
  return measured;
}

/** Makes an app, sends each body twice, prints. What compiles and warms up the first time is not what a body costs. */
export async function loopBodies(outDir: string): Promise<void> {
  mkdirSync(outDir, { recursive: true });
  const env = { DEMO: 'off', OPERATOR_TOKEN, STALL_MS: String(TOLD_FROM_MS) };
  await withDataDir(async (dataDir, remove) => {
    const server = await startProgram({ name: 'loop-bodies', core: SERVER_CORE, dataDir, outDir, env });
    try {
      const { appId } = await createApp(server.operator, await createOrganisation(server.operator));
      const { liveKey } = await createLiveApp(server.operator);
      const token = await setupToken(server, appId);
      await fillApp(server, { authorization: `Bearer ${token}` });
      const measured = await measureAll(server, join(outDir, 'loop-bodies.log'), WORST_BODIES, token, liveKey);
      process.stdout.write(`${shown(measured)}\n`);
    } finally {
      await server.stop();
      remove();
    }
  });
}
