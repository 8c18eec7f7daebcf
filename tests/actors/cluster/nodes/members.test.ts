/** Who is alive on a host: nodes that start, end, are paused, killed and held up. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { mintNodeId, socketPath } from '../../../../actors/cluster/nodes/members.ts';
import { eventually } from '../../../support/eventually.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';
import { took } from '../bus/fixture.ts';
import { ids, openCell, record } from './member-fixture.ts';

describe('CLUSTER-8, CLUSTER-10: who is alive on the host', { concurrency: true }, () => {
  test('a node is named after NODE_ID or the host, and no two starts are the same', () => {
    assert.match(mintNodeId('eu-1'), /^eu-1~[a-z2-7]{8}$/);
    assert.match(mintNodeId(undefined), /^.+~[a-z2-7]{8}$/);
    assert.notEqual(mintNodeId('eu-1'), mintNodeId('eu-1'));
    assert.equal(socketPath('/data', 'eu-1~abcdefgh'), '/data/nodes/abcdefgh.sock');
    for (const id of ['eu-1', 'eu-1~../../ab', 'eu-1~ABCDEFGH', 'eu~abcdefgh~'])
      assert.throws(() => socketPath('/data', id), /no node's id/);
  });

  test('a DATA_DIR that is too long for a socket is refused with its length', async (t) => {
    const dataDir = join(temporaryDir(t), 'x'.repeat(90));
    await assert.rejects(openCell(t).open({ dataDir }), /DATA_DIR is too long .* has \d+ bytes and may have 100/);
  });

  test('nodes find each other and hear what each tells of itself; one that closes is gone', async (t) => {
    const cell = openCell(t);
    const one = await cell.open();
    const other = await cell.open();
    assert.deepEqual(ids(other), [other.self, one.self], 'who comes later knows the others from the start');
    await eventually(
      () => ids(one).length === 2,
      undefined,
      () => ids(one).join(),
    );
    assert.deepEqual(ids(one), [one.self, other.self]);
    assert.equal(statSync(join(cell.dataDir, 'nodes')).mode & 0o777, 0o700);
    other.node.send({ type: 'counted', counts: { conversations: 2, sessions: 1 } });
    other.node.send({ type: 'serve', url: 'http://127.0.0.1:1' });
    other.node.send({ type: 'drain' });
    const told = () => one.list().find(({ id }) => id === other.self);
    await eventually(
      () => told()?.state === 'draining',
      undefined,
      () => JSON.stringify(told()),
    );
    assert.deepEqual(told(), { ...record(other.self), url: 'http://127.0.0.1:1', state: 'draining', actors: 3 });
    other.node.send({ type: 'counted', counts: { conversations: 4 } });
    await eventually(
      () => told()?.actors === 5,
      undefined,
      () => JSON.stringify(told()),
    );
    await other.close();
    await eventually(
      () => one.lost.length > 0,
      undefined,
      () => 'the other is gone',
    );
    assert.deepEqual(one.lost, [`${other.self} gone`]);
    assert.deepEqual([one.liveness(other.self), one.liveness(one.self), ids(one)], ['gone', 'alive', [one.self]]);
    assert.deepEqual(readdirSync(join(cell.dataDir, 'nodes')), [`${one.self.slice(-8)}.sock`]);
  });

  test('a node that is killed is gone; one that is paused is silent, alive when it goes on, gone when it is killed', async (t) => {
    const cell = openCell(t);
    const [killed, paused, doomed] = await Promise.all([cell.start(), cell.start(), cell.start()]);
    const node = await cell.open();
    assert.equal(node.list().length, 4);
    paused.process.kill('SIGSTOP');
    doomed.process.kill('SIGSTOP');
    const pausedAtMs = performance.now();
    killed.process.kill('SIGKILL');
    const goneMs = await took(() =>
      eventually(
        () => node.liveness(killed.id) === 'gone',
        undefined,
        () => 'the killed node is gone',
      ),
    );
    const areSilent = () => [paused, doomed].every(({ id }) => node.liveness(id) === 'silent');
    await eventually(areSilent, undefined, () => 'the paused nodes are silent');
    const silentMs = Math.round(performance.now() - pausedAtMs);
    assert.deepEqual(ids(node), [node.self]);
    assert.equal(await node.probe(paused.id), 'silent');
    const newcomer = await cell.open();
    const probeMs = await took(async () => assert.equal(await newcomer.probe(paused.id), 'silent'));
    paused.process.kill('SIGCONT');
    const aliveMs = await took(() =>
      eventually(
        () => node.liveness(paused.id) === 'alive',
        undefined,
        () => 'it goes on',
      ),
    );
    await eventually(
      () => ids(newcomer).includes(paused.id),
      undefined,
      () => 'the newcomer meets it',
    );
    doomed.process.kill('SIGKILL');
    await eventually(
      () => node.lost.length === 4,
      undefined,
      () => node.lost.join(),
    );
    assert.equal(node.lost[0], `${killed.id} gone`);
    assert.deepEqual(node.lost.slice(1, 3).sort(), [paused.id, doomed.id].map((id) => `${id} silent`).sort());
    assert.equal(node.lost[3], `${doomed.id} gone`);
    assert.equal(existsSync(socketPath(cell.dataDir, doomed.id)), false);
    t.diagnostic(`gone after ${goneMs} ms, silent after ${silentMs} ms, probed in ${probeMs} ms, alive again after ${aliveMs} ms`);
  });
});

describe('CLUSTER-9: a process that was held up', () => {
  test('a node that was paused itself does not take the others for silent', async (t) => {
    const cell = openCell(t);
    const child = await cell.start();
    const node = await cell.open({ times: { pingMs: 50, silentMs: 600 } });
    assert.deepEqual(ids(node), [node.self, child.id]);
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 50);
    t.after(() => clearInterval(timer));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
    await eventually(
      () => ticks >= 5,
      undefined,
      () => 'it looked again',
    );
    assert.deepEqual(node.lost, []);
    child.process.kill('SIGSTOP');
    await eventually(
      () => node.lost.length === 1,
      undefined,
      () => 'that it looks at all',
    );
  });
});

describe('CLUSTER-10: sockets that nobody answers on', { concurrency: true }, () => {
  test('the socket of a node that is no more is removed and is no news; a node that was never heard of is gone once it was probed', async (t) => {
    const cell = openCell(t);
    const crashed = await cell.start();
    const ended = once(crashed.process, 'exit');
    crashed.process.kill('SIGKILL');
    await ended;
    assert.ok(existsSync(socketPath(cell.dataDir, crashed.id)));
    const node = await cell.open();
    await eventually(
      () => !existsSync(socketPath(cell.dataDir, crashed.id)),
      undefined,
      () => 'the socket is removed',
    );
    assert.deepEqual([node.lost, node.liveness(crashed.id)], [[], 'gone']);
    const unknown = mintNodeId('test');
    assert.equal(node.liveness(unknown), 'alive');
    assert.deepEqual([await node.probe(unknown), node.liveness(unknown)], ['gone', 'gone']);
    for (const other of ['local', 'x~../../etc']) assert.deepEqual([await node.probe(other), node.liveness(other)], ['gone', 'gone']);
    assert.equal(await node.probe(node.self), 'alive');
  });

  test('what accepts and is no node is silent; a node whose socket was tidied away shows itself again', async (t) => {
    const cell = openCell(t);
    mkdirSync(join(cell.dataDir, 'nodes'), { recursive: true });
    const stranger = mintNodeId('test');
    const server = createServer((socket) => void socket.write('{"hello":1}\nnot json\n'));
    server.listen(socketPath(cell.dataDir, stranger));
    await once(server, 'listening');
    const node = await cell.open();
    t.after(() => server.close());
    assert.equal(await node.probe(stranger), 'silent');
    assert.deepEqual(ids(node), [node.self]);
    rmSync(socketPath(cell.dataDir, node.self));
    const late = await cell.open();
    await eventually(
      () => ids(late).includes(node.self) && ids(node).includes(late.self),
      undefined,
      () => ids(late).join(),
    );
    assert.deepEqual(node.lost, []);
  });
});
