/** The command that follows a move, against a service that tells a story step by step. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { type CliFixture, cliFixture } from './fixture.ts';

const ORG = 'org_000000000000000000000001';
const TOKEN = 'operator-token-of-these-tests';

type Told = readonly [step: string, error?: string] | null | 'gone';

interface Story extends CliFixture {
  /** Method, path and body of each request. */
  readonly asked: readonly string[];
}

/** Answers GET with one chapter after the other, and the last one from then on; at 'gone' it breaks the connection. */
async function tell(t: TestContext, chapters: readonly Told[], refused?: { status: number; message: string }): Promise<Story> {
  const asked: string[] = [];
  let next = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    asked.push(`${request.method} ${request.url} ${body}`.trim());
    assert.equal(request.headers.authorization, `Bearer ${TOKEN}`);
    const answer = (status: number, value: unknown) => void response.writeHead(status).end(JSON.stringify(value));
    if (refused !== undefined) return answer(refused.status, { error: { code: 'conflict', message: refused.message } });
    if (request.method === 'POST') return answer(202, { move: {}, pause: { bytes: 1_500_000, seconds: 3 } });
    const chapter = chapters[Math.min(next++, chapters.length - 1)] ?? null;
    if (chapter === 'gone') return void request.socket.destroy();
    if (chapter === null) return answer(200, { move: null });
    const [step, error = null] = chapter;
    const at = '2026-11-21T10:00:00.000Z';
    answer(200, { move: { organisation_id: ORG, move_id: 'mov_1', target_cell: 'b', step, error, started_at: at, updated_at: at } });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  return Object.assign(cliFixture({ port, operatorToken: TOKEN }), { asked });
}

const steps = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ', 1)[0]);

test('RUN-28: move asks for the move and tells each step once, until it is done', async (t) => {
  const story = await tell(t, [['begun'], ['begun'], ['sealed'], 'gone', ['sealed'], ['switched'], ['done']]);
  const { code, stdout, stderr } = await story.run('move', ORG, 'b');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^its writes will pause for some 3 s \(2 MB\)/);
  assert.deepEqual(steps(stdout), ['its', 'begun', 'sealed', 'switched', 'done']);
  assert.deepEqual(story.asked.slice(0, 2), [`POST /console/api/orgs/${ORG}/move {"cell":"b"}`, `GET /console/api/orgs/${ORG}/move`]);
});

test('RUN-28: a step that is tried again is told with its error; a move that was given up is exit code 1', async (t) => {
  const story = await tell(t, [['sealed'], ['sealed', 'cell b does not answer'], ['aborted', 'cell b does not answer']]);
  const { code, stdout, stderr } = await story.run('move', ORG, 'b');
  assert.equal(code, 1);
  assert.deepEqual(steps(stdout), ['its', 'sealed', 'sealed', 'aborted']);
  assert.match(stdout, /^sealed .*\(cell b does not answer\)$/m);
  assert.equal(stderr, `${ORG} was not moved: cell b does not answer\n`);
});

test('RUN-28: what the service refuses is told as it is, and nothing is followed', async (t) => {
  const story = await tell(t, [], { status: 409, message: 'It lives on cell b already.' });
  assert.deepEqual(await story.run('move', ORG, 'b'), { code: 1, stdout: '', stderr: 'It lives on cell b already.\n' });
  assert.equal(story.asked.length, 1);
});

test('RUN-28: a service that stays away for a minute is given up on, and so is a move that is not known any more', async (t) => {
  const away = await tell(t, [['sealed'], 'gone']);
  const lost = await away.run('move', ORG, 'b');
  assert.equal(lost.code, 1);
  assert.match(lost.stderr, /cannot be reached/);
  assert.equal(away.pauses, 1 + 120);
  const forgotten = await (await tell(t, [['sealed'], null])).run('move', ORG, 'b');
  assert.match(forgotten.stderr, /knows of no move/);
});

test('RUN-28: move --status says how far it is and changes nothing', async (t) => {
  const story = await tell(t, [['sealed'], null]);
  const { code, stdout } = await story.run('move', ORG, '--status', '--json');
  assert.equal(code, 0);
  assert.equal((JSON.parse(stdout) as { move: { step: string } }).move.step, 'sealed');
  assert.match((await story.run('move', ORG, '--status')).stdout, /was never moved/);
  assert.deepEqual(new Set(story.asked), new Set([`GET /console/api/orgs/${ORG}/move`]));
});
