/** What may befall the destination of a replica: the service goes on, says so and catches up, and what had been replicated is there. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startObjectStorage } from '../../support/object-storage.ts';
import { startReplicated } from '../../support/replica.ts';
import { startStorageFront } from '../../support/storage-front.ts';
import { ALL, COMMON, caughtUp, LAG_MAX_S, restored, startBehindFront } from './failing.ts';

type Front = Awaited<ReturnType<typeof startStorageFront>>;
type Deed = (front: Front) => Promise<void>;

async function setMood(front: Front, mood: Front['mood']): Promise<void> {
  front.mood = mood;
}

// They wait most of the time.
describe('REPLICA-2, REPLICA-4: a destination', { concurrency: 3 }, () => {
  test('where a wrong key, a wrong secret, no such bucket and nobody there are told in words from the start on', async (t) => {
    const { url, env } = await startObjectStorage(t);
    const front = await startStorageFront(t, env.AWS_ENDPOINT_URL ?? '');
    front.mood = 'denies';
    const wrongs: readonly (readonly [RegExp, string, Record<string, string>])[] = [
      [/InvalidAccessKeyId/, url, { AWS_ACCESS_KEY_ID: 'SOMEBODY' }],
      [/SignatureDoesNotMatch/, url, { AWS_ENDPOINT_URL: front.endpoint }],
      [/NoSuchBucket|bucket does not exist/, 's3://nowhere/assistant', {}],
      [/connection refused|fetch failed|ECONNREFUSED/, url, { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }],
    ];
    for (const [words, address, wrong] of wrongs) {
      const service = await startReplicated(t, address, { env: { ...COMMON, ...env, ...wrong, REPLICA_LAG_MAX_S: LAG_MAX_S } });
      let behind: string | undefined;
      const isTold = async () => {
        behind = await service.behind();
        return words.test(behind ?? '');
      };
      await eventually(isTold, undefined, () => `${behind}`);
      assert.ok((await service.metric('assistant_replica_lag_max_seconds')) > Number(LAG_MAX_S));
      await eventually(() => service.output().stderr.includes('"condition":"replica_behind"'));
      assert.equal((await service.ask('POST', '/orgs', { name: 'Served' })).status, 201);
      assert.ok((await service.behind()) !== undefined, 'it does not come and go');
      await service.stop('SIGKILL');
    }
  });

  for (const [what, fall, mend] of [
    ['is away', (front) => front.goAway(), (front) => front.comeBack()],
    ['is full', (front) => setMood(front, 'full'), (front) => setMood(front, 'passes')],
    ['takes the credentials no more', (front) => setMood(front, 'denies'), (front) => setMood(front, 'passes')],
    ['never answers', (front) => setMood(front, 'swallows'), (front) => setMood(front, 'passes')],
  ] as const satisfies readonly (readonly [string, Deed, Deed])[]) {
    test(`that ${what} is told, and the replica catches up`, async (t) => {
      const { service, front, storage, env } = await startBehindFront(t);
      await fall(front);
      const meanwhile = await service.addOrganisation('Meanwhile');
      await eventually(async () => (await service.behind()) !== undefined);
      assert.deepEqual(await restored(t, storage.url, { ...env, ...storage.env }), { First: ALL.First }, 'what was replicated is there');
      await mend(front);
      await caughtUp(service, storage.folder, meanwhile);
      assert.equal((await service.ready()).status, 'ready');
      await service.stop('SIGKILL');
      assert.deepEqual(await restored(t, storage.url, env), ALL);
    });
  }
});
