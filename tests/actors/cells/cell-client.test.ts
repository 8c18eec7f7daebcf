import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type http from 'node:http';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { CellClient, CellUnreachable } from '../../../actors/cells/cell-client.ts';
import { CELL_HEADERS, CellProofs, statementOf } from '../../../actors/cells/cell-proof.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import { openStorage } from '../../../storage/storage.ts';
import { proven } from '../../gateway/cells/cells-world.ts';
import { eventually } from '../../support/eventually.ts';
import { serveFake } from '../../support/fake-server.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

async function open(t: TestContext) {
  const storage = openStorage({ dataDir: temporaryDir(t), masterKey: undefined, onFatal: () => {} });
  const client = new CellClient('a', storage);
  t.after(async () => {
    client.close();
    await storage.close();
  });
  const listen = async (cell: string, handle: http.RequestListener, path = '') => {
    const { url, close } = await serveFake(proven(storage.vault, handle));
    t.after(close);
    await storage.writeControl('seeCells', { cells: [{ cell, url: `${url()}${path}`, seenAtMs: 1, term: 1 }] });
  };
  return { storage, client, listen };
}

/** The process's timers on a clock that the test moves: the answer lets `ms` pass. The runner's own do not know `refresh`. */
function playTimers(t: TestContext): (ms: number) => void {
  let timers: { dueAtMs: number; fire(): void }[] = [];
  let nowMs = 0;
  t.mock.method(globalThis, 'setTimeout', (fire: () => void, ms: number) => {
    const timer = {
      dueAtMs: nowMs + ms,
      fire,
      refresh() {
        timer.dueAtMs = nowMs + ms;
      },
    };
    timers.push(timer);
    return timer;
  });
  t.mock.method(globalThis, 'clearTimeout', (cleared: unknown) => {
    timers = timers.filter((timer) => timer !== cleared);
  });
  return (ms) => {
    nowMs += ms;
    for (const timer of timers) if (timer.dueAtMs <= nowMs) timer.fire();
  };
}

async function hashOf(request: http.IncomingMessage): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of request) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

test('CELL-7: a call proves that it comes from a cell, below the address that the cell has', async (t) => {
  const { storage, client, listen } = await open(t);
  await listen(
    'b',
    async (request, answer) => {
      const { 'content-type': type, authorization } = request.headers;
      const bytes = await hashOf(request);
      const token = String(request.headers[CELL_HEADERS.token]);
      const target = (request.url ?? '').slice('/prefix'.length);
      const fault = new CellProofs(storage.vault, Date.now).fault(
        token,
        statementOf(request.method ?? '', target, (name) => String(request.headers[name] ?? '')),
      );
      answer.end(JSON.stringify({ url: request.url, method: request.method, fault: fault ?? 'none', authorization, type, bytes }));
    },
    '/prefix/',
  );
  const hash = (body: Buffer | string) => createHash('sha256').update(body).digest('hex');
  const bytes = randomBytes(100_000);
  const large = randomBytes(3_000_000);
  const options = { timeoutMs: 5_000 };
  const said = { url: '/prefix/cell/v1/x', fault: 'none' };
  assert.deepEqual(await client.call('b', 'POST', '/cell/v1/x', { one: 1 }, options), {
    status: 200,
    json: { ...said, method: 'POST', type: 'application/json', bytes: hash('{"one":1}') },
  });
  const sent = await client.call('b', 'PUT', '/cell/v1/x', Readable.from([bytes]), options);
  assert.deepEqual(sent.json, { ...said, method: 'PUT', type: 'application/octet-stream', bytes: hash(bytes) });
  const parts = Array.from({ length: 30 }, (_, at) => large.subarray(at * 100_000, (at + 1) * 100_000));
  const { json } = await client.call('b', 'PUT', '/cell/v1/x', Readable.from(parts), options);
  assert.equal((json as { bytes: string }).bytes, hash(large));
});

test('CELL-5: a proof is of use once, at one cell, for one request, for half a minute; an answer has one of its own', () => {
  let nowMs = 1_795_255_200_000;
  const master = randomBytes(32).toString('base64');
  const [there, other] = [openVault('', master), openVault('', randomBytes(32).toString('base64'))].map(
    (vault) => new CellProofs(vault, () => nowMs),
  ) as [CellProofs, CellProofs];
  const here = new CellProofs(openVault('', master), () => nowMs);
  const statement = {
    ...{ method: 'POST', target: '/v1/chat?a=1', from: 'a', to: 'b', organisationId: 'org_1' },
    ...{ clientAddress: '192.0.2.1', clientHost: 'api.example', vouchedFor: '' },
  };
  const token = here.sign(statement);
  for (const [field, value] of Object.entries({ ...statement, vouchedFor: 'operator' })) {
    const changed = { ...statement, [field]: `${value}${field === 'vouchedFor' ? '' : 'x'}` };
    assert.equal(there.fault(token, changed), 'forged', field);
  }
  // What stands in one field cannot be moved into the next.
  assert.equal(there.fault(token, { ...statement, from: 'a,b', to: '' }), 'forged');
  assert.equal(other.fault(token, statement), 'forged', 'another master key');
  for (const nonsense of ['', 'x', token.slice(1), `${token}x`, token.replace(/^\d/, '9')])
    assert.equal(there.fault(nonsense, statement), 'forged');
  nowMs += 30_001;
  assert.equal(there.fault(token, statement), 'late');
  nowMs -= 60_002;
  assert.equal(there.fault(token, statement), 'late', 'a clock that is ahead');
  nowMs += 30_001;
  assert.equal(there.fault(token, statement), undefined);
  assert.equal(there.fault(token, statement), 'repeated');
  assert.notEqual(here.sign(statement), here.sign(statement));
  const answered = (proof: unknown, statusCode = 200, miss?: string) =>
    here.proves(
      { statusCode, headers: { [CELL_HEADERS.proof]: proof as string, ...(miss !== undefined && { [CELL_HEADERS.miss]: miss }) } },
      token,
    );
  assert.ok(answered(there.answer(token, 200)));
  assert.ok(answered(there.answer(token, 421, 'b 3'), 421, 'b 3'));
  assert.ok(!answered(there.answer(token, 421, 'b 3'), 421, 'b 999'), 'another place');
  assert.ok(!answered(there.answer(token, 401)), 'another status');
  for (const proof of [there.answer(here.sign(statement), 200), other.answer(token, 200), token, '', undefined])
    assert.ok(!answered(proof));
});

test('CELL-5: what does not prove that it is a cell is not believed', async (t) => {
  const { storage, client } = await open(t);
  const { url, close } = await serveFake((_, answer) => answer.end('{"cell":"b"}'));
  t.after(close);
  await storage.writeControl('seeCells', { cells: [{ cell: 'b', url: url(), seenAtMs: 1, term: 1 }] });
  await assert.rejects(client.call('b', 'GET', '/cell/v1/about', undefined, { timeoutMs: 60_000 }), /did not prove that it is a cell/);
});

test('CELL-7: a cell that is unknown, away, mute or speaks at length cannot be reached', async (t) => {
  const { storage, client, listen } = await open(t);
  await storage.writeControl('seeCells', { cells: [{ cell: 'away', url: 'http://127.0.0.1:1', seenAtMs: 1, term: 1 }] });
  await listen('mute', () => {});
  await listen('long', (_, answer) => answer.end(Buffer.alloc(2 * 1024 * 1024)));
  await listen('text', (_, answer) => answer.writeHead(502).end('<html>'));
  const call = (cell: string) => client.call(cell, 'GET', '/', undefined, { timeoutMs: cell === 'mute' ? 100 : 60_000 });
  for (const [cell, reason] of [
    ['nobody', /never seen/],
    ['away', /ECONNREFUSED/],
    ['mute', /nothing moved for 100 ms/],
    ['long', /more than 1048576/],
  ] as const) {
    await assert.rejects(call(cell), (error) => error instanceof CellUnreachable && error.cell === cell && reason.test(error.message));
  }
  assert.deepEqual(await call('text'), { status: 502, json: undefined });
});

test('CELL-7: a streamed body may take its time as long as it moves; its own fault ends the call', async (t) => {
  const { client, listen } = await open(t);
  let arrived = 0;
  await listen('b', (request, answer) => {
    request.on('data', () => arrived++).on('end', () => answer.end('{}'));
  });
  const pass = playTimers(t);
  async function* slowly() {
    for (let n = 1; n <= 8; n++) {
      yield Buffer.from('x');
      await eventually(() => arrived === n);
      pass(150);
    }
  }
  const options = { timeoutMs: 200 };
  assert.equal((await client.call('b', 'PUT', '/', Readable.from(slowly()), options)).status, 200);
  // Once all was sent, the answer has its own time.
  await listen('slow', (request, answer) => {
    const late = () => {
      pass(500);
      answer.end('{}');
    };
    request.resume().on('end', () => setImmediate(late));
  });
  const call = (answerTimeoutMs: number) => client.call('slow', 'PUT', '/', Readable.from(['x']), { ...options, answerTimeoutMs });
  assert.equal((await call(600)).status, 200);
  await assert.rejects(call(400), /nothing moved for 400 ms/);
  async function* broken() {
    yield Buffer.from('x');
    throw new Error('the disk is gone');
  }
  await assert.rejects(client.call('b', 'PUT', '/', Readable.from(broken()), options), /the disk is gone/);
});

test('CELL-7: an answer that comes before the body was read ends the sending', async (t) => {
  const { client, listen } = await open(t);
  await listen('b', (_, answer) => answer.writeHead(409).end('{"no":true}'));
  async function* endless() {
    for (;;) yield Buffer.alloc(64 * 1024);
  }
  const body = Readable.from(endless());
  const told = await client.call('b', 'PUT', '/', body, { timeoutMs: 60_000 });
  assert.deepEqual([told, body.destroyed], [{ status: 409, json: { no: true } }, true]);
});
