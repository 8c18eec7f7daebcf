/** A Redis that speaks TLS with a certificate of the company's own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { certify } from '../support/certify.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { redisMissing, startRedis } from '../support/redis.ts';
import { type RunningService, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const skip = redisMissing() || (spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed');

async function conditions({ baseUrl }: RunningService): Promise<string[]> {
  const answer = (await (await fetch(`${baseUrl}/readyz`)).json()) as { conditions?: { condition: string }[] };
  return answer.conditions?.map(({ condition }) => condition) ?? [];
}

test('CLUSTER-25: rediss is TLS: with its authority in NODE_EXTRA_CA_CERTS it is used, without it is away', { skip }, async (t) => {
  const { certificate, key } = certify(temporaryDir(t));
  const port = await freePort();
  const settings = ['--tls-port', String(port), '--tls-cert-file', certificate, '--tls-key-file', key, '--tls-auth-clients', 'no'];
  await startRedis(t, { settings });
  const REDIS_URL = `rediss://localhost:${port}`;
  const trusting = await startService(t, { env: { REDIS_URL, NODE_EXTRA_CA_CERTS: certificate } });
  assert.deepEqual(await conditions(trusting), []);
  const other = await startService(t, { env: { REDIS_URL } });
  await eventually(
    async () => (await conditions(other)).includes('redis_away'),
    undefined,
    () => 'a certificate of nobody known was taken',
  );
});
