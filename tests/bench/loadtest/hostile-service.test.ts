/** What the load tester makes of a server that means it ill: whatever it says is counted, shown without harm, and loses no report. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { adviceFor } from '../../../bench/loadtest/advice.ts';
import { shown } from '../../../bench/loadtest/failure.ts';
import { failureOf } from '../../../bench/loadtest/service-api.ts';
import { renderEvent, type StreamEvent } from '../../../protocol/runtime/stream-events.ts';
import { type Ended, loadTest } from './program.ts';

const ESCAPE = '\u001b[2J\u001b]0;mine\u0007';
/** A service may write the lone half of a pair, which no address can carry. */
const UNSENDABLE = 'inv_\ud800';

const start: StreamEvent = { type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: `m${ESCAPE}`, request_id: 'r' };
const framesOf = (events: readonly StreamEvent[]): string => events.map((event, seq) => renderEvent(seq, event)).join('');
const wholeTurn = framesOf([start, { type: 'turn.end', status: 'completed', billable: false }]);

type Reply = (response: ServerResponse) => void;

const stream =
  (text: string): Reply =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(text);
  };
const json =
  (status: number, body: unknown): Reply =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  };

/** Loads a server that answers the first turn as it should, and the turns of the load with this. */
async function loadOf(t: TestContext, reply: Reply, ...more: readonly string[]): Promise<Ended> {
  let turns = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.url === '/v1/apps/config') json(200, { channel: 'draft', available: true })(response);
      else if (request.url === '/v1/apps/manifest') json(200, { manifest_hash: 'h' })(response);
      else (turns++ === 0 ? stream(wholeTurn) : reply)(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const load = more.includes('--duration') ? more : ['--rate', '20', '--duration', '1s', '--drain', '2s', ...more];
  return loadTest(t, ['--url', url, '--key', 'rd_pk_test_abcdefgh', ...load]);
}

/** It ended as it should, with a report, and nothing that it wrote moves a terminal. */
function assertReported({ code, stdout, stderr, report, html }: Ended): NonNullable<Ended['report']> {
  assert.equal(code, 1, stdout + stderr);
  assert.ok(report !== undefined, stdout);
  for (const text of [stdout, stderr, html]) assert.ok(!text.includes('\u001b') && !text.includes('\u0007'), JSON.stringify(text));
  return report;
}

describe('LOAD-6: a server that means it ill is counted, and no report is lost', () => {
  test('errors whose code is a name of every object, and whose message is none', async (t) => {
    const report = assertReported(await loadOf(t, json(429, { error: { code: 'constructor', message: { toString: 1 } } })));
    assert.deepEqual(
      report.errors.map(({ name }) => name),
      ['429 constructor'],
    );
  });

  test('words that command a terminal: of errors, of the model, of a stream', async (t) => {
    const refused = await loadOf(t, json(400, { error: { code: `x${ESCAPE}`, message: ESCAPE } }));
    assert.match(assertReported(refused).errors[0]?.name ?? '', /^400 x·\[2J·/);
    const said: StreamEvent = { type: 'error', code: 'internal', message: ESCAPE, retryable: false };
    const failed = await loadOf(t, stream(framesOf([start, said, { type: 'turn.end', status: 'error' }])));
    assert.equal(assertReported(failed).errors[0]?.name, 'internal (in the stream)');
  });

  test('a stream of errors without end is cut at its bound, and few of them are kept', async (t) => {
    const many = renderEvent(1, { type: 'error', code: 'internal', message: 'x'.repeat(200), retryable: false }).repeat(2_000);
    const endless: Reply = (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const more = (): void => {
        while (!response.destroyed && response.write(many));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    const report = assertReported(await loadOf(t, endless, '--clients', '1', '--duration', '2s', '--drain', '1s'));
    const counts = new Map(report.errors.map(({ name, count }) => [name, count]));
    assert.ok((counts.get('too_long') ?? 0) > 0, JSON.stringify(report.errors));
    assert.ok((counts.get('internal (in the stream)') ?? 0) <= 20 * report.turns.ended);
  });

  test('a block that does not fit its schema in any way', async (t) => {
    const block = { index: 0, id: 'blk_1', block_type: 'text' };
    const bare = renderEvent(2, { type: 'block.ready', index: 0, block: { ...block, revision: 1, body: null } } as unknown as StreamEvent);
    const report = assertReported(await loadOf(t, stream(framesOf([start, { type: 'block.start', ...block }]) + bare)));
    assert.ok(report.faults.length > 0);
    assert.deepEqual(report.errors, []);
  });

  test('a call whose id no address can carry: the visit failed, the others go on', async (t) => {
    const call = { invocation_id: UNSENDABLE, name: 'cancel_order', params: {}, risk: 'write', executor: 'client' };
    const asks = { type: 'turn.end', status: 'awaiting_tool_results', pending: [call], billable: false } as unknown as StreamEvent;
    const report = assertReported(await loadOf(t, stream(framesOf([start, asks])), '--mix', 'confirm=1'));
    assert.ok(
      report.errors.every(({ name }) => name === 'load_tester_fault') || report.faults.length > 0,
      JSON.stringify([report.errors, report.faults]),
    );
  });
});

test('LOAD-6: what a stranger says is cut, and marks that turn or hide text are dots', () => {
  assert.equal(shown('a\u202eb\u0000c\u200b', 100), 'a·b·c·');
  assert.equal(shown('abcdef', 3), 'abc');
  assert.equal(adviceFor('constructor'), undefined);
  assert.equal(adviceFor('500 __proto__'), undefined);
  const answer = { status: 500, headers: new Map(), text: '{"error":{"code":"x","message":["a"]}}' };
  assert.deepEqual(failureOf(answer), { code: '500 x', message: '' });
});
