/** Knowledge that ends the process which reads it does not keep the service from starting. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { reply, startSite } from '../assistant/knowledge/link-site.ts';
import { createOperator, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const ENV = { DEMO: 'off', ALLOW_PRIVATE_ADDRESSES: 'true' };

interface Listed {
  readonly sources: readonly { readonly external_key: string; readonly status: string; readonly error: string | null }[];
}

test('KNOWLEDGE-8: a link in whose reading the service was killed twice has failed at the third start; what was read beside it is indexed', async (t) => {
  /** Held open: the document that kills, and at first the one that happens to be read beside it. */
  const held: ServerResponse[] = [];
  let isFirstRun = true;
  let isMended = false;
  const site = await startSite(t, (req, res) => {
    const kills = req.url === '/kills' && !isMended;
    if (kills || isFirstRun) held.push(res);
    else reply(res, 'text/plain', 'A zebra.');
  });
  const asked = (path: string) => site.requests.filter(({ url }) => url === path).length;
  const dataDir = temporaryDir(t);
  let service: RunningService = await startService(t, { dataDir, env: ENV });
  const { appId } = await createTestApp(service.baseUrl, service.operatorToken);
  const operator = () => createOperator(service.baseUrl, service.operatorToken);
  const items = ['/kills', '/beside'].map((path) => ({ external_key: path, kind: 'url', uri: `${site.url}${path}` }));
  const lookup = async (path: string) => {
    const { sources } = (await operator()('GET', `/apps/${appId}/knowledge`)).json as Listed;
    return sources.find(({ external_key }) => external_key === path);
  };

  const cutOff = operator()('POST', `/apps/${appId}/knowledge`, { items }).catch((error: unknown) => error);
  await eventually(() => asked('/kills') === 1 && asked('/beside') === 1);
  await service.stop('SIGKILL');
  await cutOff;

  isFirstRun = false;
  service = await startService(t, { dataDir, env: ENV });
  await eventually(() => asked('/kills') === 2);
  await service.stop('SIGKILL');

  service = await startService(t, { dataDir, env: ENV });
  await eventually(async () => (await lookup('/beside'))?.status === 'indexed');
  // The other one may have been indexed by the run before, so that this start has still to come to this one.
  await eventually(async () => (await lookup('/kills'))?.status === 'failed');
  const failed = await lookup('/kills');
  assert.match(failed?.error ?? '', /^Reading this ended the service twice, so it is not tried again by itself\. /);
  assert.equal(asked('/kills'), 2);
  await eventually(() => service.output().stderr.includes('a knowledge source crashed the service twice'));

  isMended = true;
  await operator()('POST', `/apps/${appId}/knowledge`, { items: items.slice(0, 1) });
  await eventually(async () => (await lookup('/kills'))?.status === 'indexed');
  assert.equal(asked('/kills'), 3);
  for (const res of held) res.destroy();
});

test('KNOWLEDGE-8: stops of the service while it reads a link do not count against it', async (t) => {
  let isHeld = true;
  const site = await startSite(t, (_req, res) => {
    if (!isHeld) reply(res, 'text/plain', 'A zebra.');
  });
  const dataDir = temporaryDir(t);
  let service = await startService(t, { dataDir, env: ENV });
  const { appId } = await createTestApp(service.baseUrl, service.operatorToken);
  const items = [{ external_key: 'slow', kind: 'url', uri: `${site.url}/slow` }];
  const begun = createOperator(service.baseUrl, service.operatorToken)('POST', `/apps/${appId}/knowledge`, { items }).catch(() => {});
  for (let stops = 1; stops <= 3; stops += 1) {
    await eventually(() => site.requests.length === stops);
    await service.stop('SIGTERM');
    if (stops === 3) isHeld = false;
    service = await startService(t, { dataDir, env: ENV });
  }
  await begun;
  await eventually(() => site.requests.length === 4);
  const list = createOperator(service.baseUrl, service.operatorToken);
  await eventually(async () => ((await list('GET', `/apps/${appId}/knowledge`)).json as Listed).sources[0]?.status === 'indexed');
});
