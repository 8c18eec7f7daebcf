/** What nodes ask each other over the sockets of their host: real sockets, in the test's own process. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { createMembers } from '../../../../actors/cluster/nodes/members.ts';
import { mintNodeId, nodesDir, socketPath } from '../../../../actors/cluster/nodes/node-id.ts';
import type { Asks } from '../../../../actors/cluster/questions/asks.ts';
import type { Line } from '../../../../actors/cluster/questions/line.ts';
import {
  NodeFailed,
  NodeQuestions,
  type NodeQuestionsOptions,
  NodeUnreachable,
} from '../../../../actors/cluster/questions/node-questions.ts';
import { Refusal } from '../../../../protocol/errors.ts';
import { eventually } from '../../../support/eventually.ts';
import { servingNode } from '../../../support/node.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

const STOP: Asks['stopTurn']['ask'] = {
  caller: { organisationId: 'org_1', appId: 'app_1', channel: 'live', deviceId: 'd', person: null },
  turnId: 'turn_1',
  waiting: false,
};
const FOLLOW: Asks['turn']['ask'] = { turn: STOP, conversationId: 'cnv_1' };
const silent = pino({ level: 'silent' });

interface AskingNode {
  readonly self: string;
  readonly questions: NodeQuestions;
}

async function openNode(t: TestContext, dataDir: string, options: Partial<NodeQuestionsOptions> = {}): Promise<AskingNode> {
  const self = mintNodeId('test');
  const questions = new NodeQuestions({ dataDir, self, log: silent, nowMs: Date.now, ...options });
  const members = await createMembers({
    dataDir,
    node: servingNode({ id: self }),
    presence: null,
    log: silent,
    onQuestion: (socket, first) => questions.accept(socket, first),
  });
  t.after(async () => {
    questions.close();
    await members.close();
  });
  return { self, questions };
}

/** Keeps what a line says. */
function listen(line: Line): { readonly messages: unknown[]; isClosed: boolean } {
  const heard = { messages: [] as unknown[], isClosed: false };
  line.hear({
    message: (message) => void heard.messages.push(message),
    closed: () => {
      heard.isClosed = true;
    },
  });
  return heard;
}

/** Two nodes, one of which answers `turn`; both ends of a line between them. */
async function linked(t: TestContext): Promise<{ asker: AskingNode; asked: AskingNode; here: Line; there: Line }> {
  const dataDir = temporaryDir(t);
  const [asker, asked] = [await openNode(t, dataDir), await openNode(t, dataDir)];
  const lines: Line[] = [];
  asked.questions.answer('turn', async () => ({ answer: 'accepted', follow: (line) => void lines.push(line) }));
  const { line } = await asker.questions.open(asked.self, 'turn', FOLLOW);
  assert.ok(line !== null && lines[0] !== undefined);
  return { asker, asked, here: line, there: lines[0] };
}

describe('CLUSTER-18: what nodes ask each other', () => {
  test('a question gets its answer, a refusal travels as it was, and a failure stays on its node', async (t) => {
    const dataDir = temporaryDir(t);
    const logged: string[] = [];
    const log = pino({}, { write: (line: string) => void logged.push(line) });
    const [{ questions: asker }, asked] = [await openNode(t, dataDir), await openNode(t, dataDir, { log })];
    const details = [{ path: 'message', message: 'is too much' }];
    const refusal = new Refusal('rate_limited', 'Wait a little.', { status: 429, retryAfterS: 7, details });
    asked.questions.answer('stopTurn', async ({ turnId }) => {
      if (turnId === 'refused') throw refusal;
      if (turnId === 'broken') throw new Error('the disk is full');
      return { answer: { stopped: turnId === 'turn_1' } };
    });
    const ask = (turnId: string) => asker.ask(asked.self, 'stopTurn', { ...STOP, turnId });
    assert.deepEqual(await Promise.all([ask('turn_1'), ask('another')]), [{ stopped: true }, { stopped: false }]);
    await assert.rejects(ask('refused'), (error) => {
      assert.ok(error instanceof Refusal);
      assert.deepEqual({ ...error, message: error.message }, { ...refusal, message: refusal.message });
      return true;
    });
    await assert.rejects(ask('broken'), (error) => error instanceof NodeFailed && error.node === asked.self && !/disk/.test(error.message));
    await assert.rejects(asker.ask(asked.self, 'drain', {}), NodeFailed);
    assert.match(logged[0] ?? '', /the disk is full/);
    assert.doesNotMatch(logged.join(), /org_1/);
    await eventually(
      () => asker.count + asked.questions.count === 0,
      undefined,
      () => 'no connection stays',
    );
  });

  test('the next question goes over the connection of one that was answered, and over a new one when that has ended', async (t) => {
    const dataDir = temporaryDir(t);
    const [{ questions: asker }, asked] = [await openNode(t, dataDir), await openNode(t, dataDir)];
    asked.questions.answer('stopTurn', async ({ turnId }) => ({ answer: { stopped: turnId === 'turn_1' } }));
    const ask = () => asker.ask(asked.self, 'stopTurn', STOP);
    for (let n = 0; n < 3; n++) assert.deepEqual(await ask(), { stopped: true });
    assert.deepEqual([asker.count, asked.questions.count], [1, 1]);
    asker.drop(asked.self);
    await eventually(
      () => asker.count + asked.questions.count === 0,
      undefined,
      () => 'it has ended',
    );
    assert.deepEqual(await ask(), { stopped: true });
    await Promise.all(Array.from({ length: 40 }, ask));
    await eventually(
      () => asker.count === 16,
      undefined,
      () => `${asker.count} are kept`,
    );
  });

  test('a node that is not there is unreachable at once, one that does not answer after the time for it, and one that wakes too late does nothing', async (t) => {
    const dataDir = temporaryDir(t);
    const { questions: asker } = await openNode(t, dataDir, { askTimeoutMs: 50 });
    const late = await openNode(t, dataDir, { nowMs: () => Date.now() + 5_000 });
    const stuck = await openNode(t, dataDir);
    stuck.questions.answer('drain', () => new Promise(() => {}));
    late.questions.answer('drain', () => assert.fail('nobody waits for the answer'));
    const how = async (node: string) => {
      const error: unknown = await asker.ask(node, 'drain', {}).catch((failure: unknown) => failure);
      assert.ok(error instanceof NodeUnreachable);
      return error.how;
    };
    assert.deepEqual([await how('test~aaaaaaaa'), await how(late.self), await how(stuck.self)], ['closed', 'closed', 'silent']);
    await eventually(
      () => stuck.questions.count === 0,
      undefined,
      () => 'who gave up has left',
    );
  });

  test('a program of another version, which answers with something else, is unreachable and not gone', async (t) => {
    const dataDir = temporaryDir(t);
    const asker = await openNode(t, dataDir);
    const self = mintNodeId('old');
    const { createServer } = await import('node:net');
    const server = createServer((socket) => void socket.on('data', () => socket.write('{"id":"old"}\n')).on('error', () => {}));
    await new Promise<void>((resolve) => void server.listen(socketPath(dataDir, self), resolve));
    t.after(() => server.close());
    await assert.rejects(
      asker.questions.ask(self, 'drain', {}),
      (error) => error instanceof NodeUnreachable && error.how === 'silent' && /version/.test(error.message),
    );
  });
});

describe('CLUSTER-12: the line that a question leaves open', () => {
  test('what either side says arrives once and in order, whatever its size and its letters, and then the end', async (t) => {
    const { here, there } = await linked(t);
    const said = [1, 'two\nlines', { three: '⟦email_1⟧ \ud83d\ude00 \ud83d'.repeat(100_000) }, null];
    for (const message of said) there.send(message);
    here.send('back');
    there.end();
    const [reader, owner] = [listen(here), listen(there)];
    await eventually(
      () => reader.isClosed && owner.messages.length > 0,
      undefined,
      () => `${reader.messages.length} messages`,
    );
    assert.deepEqual([reader.messages, owner.messages], [said, ['back']]);
  });

  test('CLUSTER-15: a side that holds the line stops the other one, which is told when it may go on', async (t) => {
    const { here, there } = await linked(t);
    const reader = listen(here);
    let drained = 0;
    there.hear({ message: () => {}, closed: () => {}, drained: () => void drained++ });
    here.hold(true);
    const text = 'x'.repeat(64 * 1024);
    let sent = 1;
    for (; there.send(text); sent++) {
      await new Promise((resolve) => setImmediate(resolve));
      assert.ok(sent < 100, 'the line is never full');
    }
    assert.deepEqual([reader.messages, drained], [[], 0]);
    here.hold(false);
    await eventually(
      () => reader.messages.length === sent && drained === 1,
      undefined,
      () => `${reader.messages.length} of ${sent}`,
    );
  });

  test('a node that is lost, and one that closes, end their lines: what arrived before counts, what comes after does not', async (t) => {
    const { asker, asked, here, there } = await linked(t);
    there.send('before');
    const reader = listen(here);
    await eventually(
      () => reader.messages.length === 1,
      undefined,
      () => 'it arrived',
    );
    asker.questions.drop(asked.self);
    there.send('after');
    await eventually(
      () => reader.isClosed,
      undefined,
      () => 'the end is told',
    );
    assert.deepEqual(reader.messages, ['before']);
    const owner = listen(there);
    await eventually(
      () => owner.isClosed && asked.questions.count === 0,
      undefined,
      () => 'also at the other end',
    );
    const { line } = await asker.questions.open(asked.self, 'turn', FOLLOW);
    assert.ok(line !== null);
    const second = listen(line);
    asked.questions.close();
    await eventually(
      () => second.isClosed,
      undefined,
      () => 'a node that closes',
    );
  });
});

test("CLUSTER-13: the sockets of nodes are the service's own user's alone", async (t) => {
  const dataDir = temporaryDir(t);
  const { self } = await openNode(t, dataDir);
  assert.equal(statSync(nodesDir(dataDir)).mode & 0o777, 0o700);
  // Who is let in says what it likes, and nothing happens.
  const stranger = connect(socketPath(dataDir, self), () => stranger.end('no question\n'));
  await new Promise((resolve) => stranger.once('close', resolve));
});
