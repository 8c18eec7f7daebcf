/** The load client tells whole streams from others, in the form of every peer's own answers, which lie recorded beside it. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { compileLoad, type LoadResult, load } from '../../../bench/load/load.ts';
import type { AnswerForm, Target } from '../../../bench/servers/candidate.ts';
import { readPeers } from '../../../bench/servers/peer-description.ts';
import type { Workload } from '../../../bench/workloads/workloads.ts';
import { projectRoot } from '../../support/project-root.ts';

const PEERS = readPeers(join(projectRoot(), 'bench/peers'));
/** The recorded answers are of a model that says "the sun ". */
const RECORDED = { tokens: 2, first: 'the ', second: 'sun ' };
const REQUESTS = 3;

const WORKLOAD: Workload = {
  name: 'W3',
  what: 'recorded answers',
  model: 'fake-2-0',
  tokens: RECORDED.tokens,
  streams: 1,
  requests: REQUESTS,
  unit: 'turn',
  aims: [],
};

/** Asks a server that answers with `answer` and says what the load client made of it. */
async function judged(outDir: string, form: AnswerForm, answer: (response: ServerResponse) => void): Promise<LoadResult> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const running = { pid: process.pid, check: () => {}, stop: async () => {} };
  const target: Target = {
    name: 'recorded',
    process: running,
    port,
    path: '/',
    headers: ['X: y'],
    body: '{}',
    answer: form,
    stop: running.stop,
  };
  try {
    return await load(join(outDir, 'load'), outDir, WORKLOAD, target, { requests: REQUESTS });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Sends a text in pieces, so that lines are cut. */
function inPieces(text: string): (response: ServerResponse) => void {
  return (response) => {
    for (let at = 0; at < text.length; at += 37) response.write(text.slice(at, at + 37));
    response.end();
  };
}

describe('BENCH-3: whole streams', () => {
  const outDir = mkdtempSync(join(tmpdir(), 'assistant-test-'));
  before(() => compileLoad(outDir));
  after(() => rmSync(outDir, { recursive: true, force: true }));

  for (const { name, folder, answer } of PEERS) {
    test(`an answer of ${name} is whole, and what is missing, too much or cut off is found`, async () => {
      const whole = readFileSync(join(folder, 'answer.txt'), 'utf8');
      const told = await judged(outDir, answer, inPieces(whole));
      assert.deepEqual(
        { ok: told.ok, broken: told.broken, deltas: told.deltas },
        { ok: REQUESTS, broken: 0, deltas: 2 * REQUESTS },
        told.reasons[0],
      );
      assert.equal(told.chars, REQUESTS * (RECORDED.first + RECORDED.second).length);

      const wrong: Readonly<Record<string, (response: ServerResponse) => void>> = {
        'text not whole': inPieces(whole.replace(RECORDED.second, '')),
        'text not whole (too much)': inPieces(whole.replace(RECORDED.second, 'sunny ')),
        'not 200': (response) => response.writeHead(500).end('{"message":"no"}'),
        'connection closed in the stream': (response) => response.write(whole, () => response.destroy()),
      };
      for (const [why, send] of Object.entries(wrong)) {
        const { ok, broken, reasons } = await judged(outDir, answer, send);
        assert.deepEqual({ ok, broken }, { ok: 0, broken: REQUESTS }, why);
        assert.ok(reasons[0]?.startsWith(why.replace(/ \(.*/, '')), `${why}: ${reasons[0]}`);
      }
    });
  }

  test('an end that is not told, and an error that is, break a stream', async () => {
    const form: AnswerForm = { text: { event: 'said', after: '"t":"' }, end: { event: 'end', in: '"good"' }, error: { event: 'error' } };
    const text = 'event: said\ndata: {"t":"the sun "}\n\n';
    const good = 'event: end\ndata: {"was":"good"}\n\n';
    const cases: Readonly<Record<string, readonly string[]>> = {
      '': [text, 'event: other\ndata: {"t":"not of this answer"}\n\n', good],
      'no end mark': [text, 'event: end\ndata: {"was":"bad"}\n\n'],
      'error event': [text, 'event: error\ndata: {}\n\n', good],
      'text not whole': [text, text, good],
    };
    for (const [why, parts] of Object.entries(cases)) {
      const { ok, reasons } = await judged(outDir, form, inPieces(parts.join('')));
      assert.equal(ok, why === '' ? REQUESTS : 0, reasons.join('\n'));
      if (why !== '')
        assert.ok(
          reasons.some((reason) => reason.startsWith(why)),
          reasons.join('\n'),
        );
    }
  });
});
