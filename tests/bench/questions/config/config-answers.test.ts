/** C1: the configuration of apps is asked for and checked, and what is not right is counted. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { configAnswers } from '../../../../bench/questions/config/config-answers.ts';
import {
  type Asked,
  askConfigs,
  type ConfigApp,
  checkSameBytes,
  compileConfigLoad,
  type Status,
} from '../../../../bench/questions/config/config-client.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

const APP: ConfigApp = { liveKey: 'rd_pk_live_x', answer: { etag: '"a"', headers: { 200: [], 304: [] }, body: '{"ä":1}' } };

/** Five requests over two connections. */
function ask(t: TestContext, port: number, status: Status): Promise<Asked> {
  return askConfigs({ program: compileConfigLoad(temporaryDir(t)), port, apps: [APP], status, requests: 5, connections: 2 });
}

/** A server that answers whatever comes with this, and may know its own tag. */
async function answering(t: TestContext, status: number, etag: string, body: string, knowsTag = false): Promise<number> {
  const server = createServer(({ headers }, response) => {
    if (knowsTag && headers['if-none-match'] === etag) response.writeHead(304, { ETag: etag }).end();
    else response.writeHead(status, { ETag: etag, 'Content-Length': Buffer.byteLength(body) }).end(status === 304 ? undefined : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

describe('BENCH-14: configuration', () => {
  const cases = [
    { what: 'the bytes that are due', status: 200, etag: '"a"', body: APP.answer.body, ok: 5 },
    { what: 'another length', status: 200, etag: '"a"', body: '{}', ok: 0 },
    { what: 'another tag', status: 200, etag: '"b"', body: APP.answer.body, ok: 0 },
    { what: 'a refusal', status: 429, etag: '"a"', body: APP.answer.body, ok: 0 },
    { what: 'not modified where the whole is due', status: 304, etag: '"a"', body: '', ok: 0 },
  ];
  for (const { what, status, etag, body, ok } of cases)
    test(`an answer with ${what} ${ok > 0 ? 'counts' : 'is broken'}`, async (t) => {
      const asked = await ask(t, await answering(t, status, etag, body), 200);
      assert.deepEqual([asked.ok, asked.broken, asked.reasons.length], [ok, 5 - ok, Math.min(3, 5 - ok)]);
    });

  test('an app that has not changed answers 304 without a body', async (t) => {
    const asked = await ask(t, await answering(t, 304, '"a"', ''), 304);
    assert.deepEqual([asked.ok, asked.broken], [5, 0]);
  });

  test('servers whose answers have other bytes are not set beside each other', async (t) => {
    const [one, other] = await Promise.all([answering(t, 200, '"a"', '{}', true), answering(t, 200, '"a"', '{"a":1}', true)]);
    await checkSameBytes(one, one, APP.liveKey);
    await assert.rejects(checkSameBytes(one, other, APP.liveKey), /the answers differ/);
    // This one answers 200 to its own tag too.
    const port = await answering(t, 200, '"a"', '{}');
    await assert.rejects(checkSameBytes(port, port, APP.liveKey), /200 to its own tag/);
  });

  test('the service and the bare server answer every request with the right bytes', async (t) => {
    const scene = { outDir: temporaryDir(t), quick: true, rounds: 1, candidates: [], seconds: undefined, onStep: () => {} };
    const { tables } = await configAnswers.measure(scene);
    assert.deepEqual(
      tables[0]?.rows.map(([status, server, , , , , , , , broken]) => [status, server, broken]),
      [
        ['304', 'service', '0'],
        ['304', 'bare', '0'],
        ['200', 'service', '0'],
        ['200', 'bare', '0'],
      ],
    );
  });
});
