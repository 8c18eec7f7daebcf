/** Large bodies are read beside the event loop, and nobody can tell by the answer. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { checkBody, parseJson } from '../../../gateway/http/body.ts';
import {
  BodyQueue,
  type BodySender,
  createLargeBodies,
  LARGE_BODY_BYTES,
  type LargeBodies,
  WAITING_MAX_BYTES,
  WAITING_PER_ADDRESS_MAX_BYTES,
  WAITING_PER_APP_MAX_BYTES,
} from '../../../gateway/http/large-body.ts';
import { manifestRoute } from '../../../gateway/runtime/manifest.ts';
import { MANIFEST_BOUNDS, manifestBody } from '../../../gateway/runtime/manifest-body.ts';
import type { Services } from '../../../gateway/services.ts';
import { MANIFEST_BODY_MAX_BYTES } from '../../../protocol/limits.ts';
import { VALID_BODIES } from '../../protocol/runtime/instances.ts';
import { mutated } from '../../protocol/setup/mutations.ts';
import { type RuntimeApp, serveApp } from '../runtime/runtime-app.ts';

const SENDER: BodySender = { app: 'app_1', address: '203.0.113.7' };

function started(t: TestContext): LargeBodies {
  const bodies = createLargeBodies();
  t.after(() => bodies.close());
  return bodies;
}

function bytesOf(body: unknown): Uint8Array {
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}

async function outcome(read: () => unknown): Promise<unknown> {
  try {
    return { body: await read() };
  } catch (error) {
    const { name, message, code, status, retryable, details, retryAfterS } = error as Record<string, unknown>;
    return { name, message, code, status, retryable, details, retryAfterS };
  }
}

const inline = (bytes: Uint8Array) => checkBody(manifestBody, parseJson(bytes, 'runtime', MANIFEST_BOUNDS), 'runtime');

function wrongEnums(actions: number, version: unknown = '1', type: unknown = 1): object {
  const param = { type, enum: Array.from({ length: 20 }, () => (type === 1 ? null : 'a')) };
  const params = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`name_${index}`, param]));
  const list = Array.from({ length: actions }, (_, index) => ({ name: type === 1 ? '-' : `do_${index}`, description: 'd', params }));
  return { sdk: 'web/1.0.0', manifest: { version, actions: list } };
}

async function post({ base, test: key }: RuntimeApp, body: unknown): Promise<Response> {
  return fetch(`${base}/v1/apps/manifest`, {
    method: 'POST',
    headers: { 'X-Service-Key': key, 'Content-Type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const withBodies = (largeBodies: LargeBodies) => (): Partial<Services> => ({
  largeBodies,
  setup: { settled: async () => {} } as unknown as Services['setup'],
});

test('HTTP-8: valid and damaged bodies have the same outcome beside the event loop as on it', async (t) => {
  const bodies = started(t);
  const samples: unknown[] = [...fc.sample(VALID_BODIES.manifest, 25), ...fc.sample(mutated(VALID_BODIES.manifest), 75)];
  const good = JSON.stringify(wrongEnums(2, '1', 'string'));
  samples.push(wrongEnums(30), wrongEnums(30, '1', 'string'), good.slice(0, -1), good.replace('"1"', '1e999'));
  samples.push(good.replace('"version"', '"extra":1e999,"version"'), good.replace('"version"', '"__proto__":1,"version"'));
  samples.push(good.replace('"a"', '"\\ud800"'), '['.repeat(100), '', 'null', `{${'"a":0,'.repeat(31_000)}"b":0}`);
  let refused = 0;
  for (const sample of samples) {
    const bytes = bytesOf(sample);
    const expected = (await outcome(() => inline(bytes))) as { body?: unknown };
    assert.deepEqual(await outcome(() => bodies.read('manifest', bytes, SENDER)), expected);
    if (!('body' in expected)) refused += 1;
  }
  assert.ok(refused > 20 && refused < samples.length - 20, `${refused} of ${samples.length} are refused`);
  const notUtf8 = Uint8Array.of(0x22, 0xff, 0x22);
  assert.deepEqual(await outcome(() => bodies.read('manifest', notUtf8, SENDER)), await outcome(() => inline(notUtf8)));
});

test('HTTP-8: a large body is read beside the event loop, a small one on it, and both answer alike byte for byte', async (t) => {
  const bodies = started(t);
  const sizes: number[] = [];
  const counting: LargeBodies = {
    read: (kind, bytes, sender) => {
      sizes.push(bytes.byteLength);
      return bodies.read(kind, bytes, sender);
    },
    close: () => bodies.close(),
  };
  const aside = await serveApp(t, [manifestRoute], undefined, withBodies(counting));
  const onLoop = await serveApp(t, [manifestRoute], undefined, () => ({ setup: withBodies(bodies)().setup as Services['setup'] }));
  const large = [wrongEnums(100), wrongEnums(100, '1', 'string'), `${JSON.stringify(wrongEnums(100))}]`];
  for (const body of [...large, wrongEnums(1), wrongEnums(1, '1', 'string')]) {
    const [one, other] = [await post(aside, body), await post(onLoop, body)];
    assert.equal(one.status, other.status);
    assert.equal(await one.text(), await other.text());
  }
  assert.equal(sizes.length, large.length);
  assert.ok(sizes.every((size) => size > LARGE_BODY_BYTES && size <= MANIFEST_BODY_MAX_BYTES));
});

test('HTTP-8: when too many large bodies wait, the next is told to come again, and is not read on the event loop', async (t) => {
  const bodies = started(t);
  const app = await serveApp(t, [manifestRoute], undefined, withBodies(bodies));
  const slow = bytesOf(wrongEnums(100));
  const fits = Math.floor(WAITING_PER_ADDRESS_MAX_BYTES / slow.byteLength);
  // Beside the one that is being read.
  const waiting = Array.from({ length: fits + 1 }, () => outcome(() => bodies.read('manifest', slow, SENDER)));
  assert.deepEqual(await outcome(() => bodies.read('manifest', slow, SENDER)), {
    name: 'Refusal',
    message: 'Too many large bodies wait to be read. Send the request again.',
    code: 'internal',
    status: 503,
    retryable: true,
    details: undefined,
    retryAfterS: 5,
  });
  const other = bodies.read('manifest', bytesOf(wrongEnums(20, '1', 'string')), { ...SENDER, app: 'app_2' });
  const first = await Promise.race([other.then(() => 'other'), Promise.all(waiting).then(() => 'all of the first')]);
  assert.equal(first, 'other', 'another app does not wait for all of them');
  await bodies.close();
  assert.equal((await Promise.all(waiting)).length, fits + 1);
  const refused = await post(app, wrongEnums(100));
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get('retry-after'), '5');
  assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'internal');
  assert.equal((await post(app, wrongEnums(1, '1', 'string'))).status, 200, 'small ones are served');
});

test('HTTP-8: an address and an app hold a part of the line of large bodies, and apps alternate', async () => {
  const line = new BodyQueue();
  const bytes = 512 * 1024;
  const order: string[] = [];
  const enter = (app: string, address: string) => {
    const turn = line.enter({ app, address }, bytes);
    void turn?.then(() => order.push(app));
    return turn !== undefined;
  };
  const entered = (tries: number, app: string, addressOf: (n: number) => string) =>
    Array.from({ length: tries }, (_, n) => enter(app, addressOf(n))).filter(Boolean).length;
  assert.ok(enter('reading', 'at once'));
  assert.equal(
    entered(90, 'a', () => 'one'),
    WAITING_PER_ADDRESS_MAX_BYTES / bytes,
  );
  assert.equal(entered(90, 'a', String), (WAITING_PER_APP_MAX_BYTES - WAITING_PER_ADDRESS_MAX_BYTES) / bytes);
  assert.ok(enter('b', 'one'));
  for (let n = 0; n < 4; n++) {
    line.leave();
    await Promise.resolve();
  }
  assert.deepEqual(order, ['reading', 'a', 'b', 'a', 'a']);
  const apps = Array.from({ length: 100 }, (_, n) => enter(`c${n}`, 'one')).filter(Boolean).length;
  assert.equal(apps, (WAITING_MAX_BYTES - WAITING_PER_APP_MAX_BYTES) / bytes + 3);
});
