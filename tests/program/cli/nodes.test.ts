/** Commands about nodes and actors, over a gateway with a cluster made up. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { actor, type MadeUp, node, OPERATOR_TOKEN, START, serveCluster } from '../../gateway/console/cluster-fixture.ts';
import { type CliFixture, cliFixture } from './fixture.ts';

async function fixture(t: TestContext, madeUp: MadeUp): Promise<CliFixture & { drained: readonly string[] }> {
  const { server, drained } = await serveCluster(t, madeUp);
  return Object.assign(cliFixture({ port: server.port, operatorToken: OPERATOR_TOKEN }, START + 90_000), { drained });
}

test('RUN-27: nodes is a table of the nodes, how long they are up, and how Redis is; the same as JSON', async (t) => {
  const two = node('two', { pid: 99, cell: 'eu', state: 'draining', url: null, startedAtMs: START + 85_000, actors: 12 });
  const { run } = await fixture(t, { nodes: [node('one'), two], redis: 'away' });
  const { code, stdout, stderr } = await run('nodes');
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(
    stdout,
    `NODE          STATE     ACTORS  CELL  PID   URL                    UP FOR
one~0123abcd  serving   0       -     4711  http://127.0.0.1:8787  1 min
two~0123abcd  draining  12      eu    99    -                      5 s

Redis is away. This was answered by one~0123abcd.
`,
  );
  const json = await run('nodes', '--json');
  assert.equal(json.code, 0);
  const { nodes, redis } = JSON.parse(json.stdout) as { nodes: { id: string }[]; redis: string };
  assert.deepEqual([nodes.map(({ id }) => id), redis], [['one~0123abcd', 'two~0123abcd'], 'away']);
});

test('RUN-27: actors is a table, filtered by a node’s name; says what the limit left out and who did not answer', async (t) => {
  const actors = [
    actor('cnv_1', { state: 'answering', turnId: 'turn-1', sinceMs: START + 30_000 }),
    actor('cnv_2', { node: 'two~0123abcd', waiting: 1 }),
  ];
  const { run } = await fixture(t, { nodes: [node('one'), node('two')], actors, unreachable: ['two~0123abcd'] });
  const one = await run('actors', '--node', 'one', '--kind', 'conversation');
  assert.deepEqual([one.code, one.stderr], [0, '']);
  assert.equal(
    one.stdout,
    `KIND          ID     NODE          STATE      FOR    WAITING  APP    TURN
conversation  cnv_1  one~0123abcd  answering  1 min  0        app_1  turn-1
`,
  );
  const first = await run('actors', '--limit', '1');
  assert.match(first.stdout, /cnv_2 .*\n\n1 of 2 are shown; --limit/);
  assert.match(first.stderr, /did not answer.*two~0123abcd/);
  assert.match((await run('actors', '--kind', 'setup_session')).stdout, /^Nothing is alive/);
  assert.deepEqual((await run('actors', '--limit', '5000')).stderr, 'limit must be a whole number from 1 to 1000.\n');
});

test('RUN-27: drain takes a node’s id or name, and asks for the id where several have the name', async (t) => {
  const restarted = node('two', { id: 'two~89abcdef' });
  const { run, drained } = await fixture(t, { nodes: [node('one'), node('two'), restarted] });
  const done = await run('drain', 'one');
  assert.equal(done.code, 0);
  assert.match(done.stdout, /^one~0123abcd drains: .*process 4711 ends/);
  assert.equal((await run('drain', 'two~89abcdef', '--json')).stdout, '{"node":"two~89abcdef","draining":true}\n');
  assert.deepEqual(await run('drain', 'two'), {
    code: 1,
    stdout: '',
    stderr: 'Several nodes are called two. Say which by its id: two~0123abcd, two~89abcdef.\n',
  });
  const unknown = await run('drain', 'three');
  assert.deepEqual([unknown.code, unknown.stderr], [1, 'There is no node three. There are: one~0123abcd, two~0123abcd, two~89abcdef.\n']);
  assert.deepEqual(drained, ['one~0123abcd', 'two~89abcdef']);
});

test('RUN-27: a wrong token, an answer that is no answer of this service, and a redirect are told, never followed with the token', async (t) => {
  const { server } = await serveCluster(t, {});
  const wrong = await cliFixture({ port: server.port, operatorToken: 'another-token-than-the-right-one' }).run('nodes');
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /does not take this operator token\. Set OPERATOR_TOKEN, or DATA_DIR/);
  const asked: (string | undefined)[] = [];
  const stranger = createServer((request, response) => {
    asked.push(request.url);
    if (request.url === '/moved/console/api/nodes') response.writeHead(307, { Location: '/elsewhere' }).end();
    else if (request.url === '/ok/console/api/nodes') response.end('{"nodes":7}');
    else response.writeHead(502).end('Bad gateway');
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  t.after(() => stranger.close());
  const { port } = stranger.address() as { port: number };
  const ask = async (path: string) =>
    cliFixture({ operatorToken: OPERATOR_TOKEN }).run('nodes', '--url', `http://127.0.0.1:${port}${path}`);
  assert.match((await ask('')).stderr, /answered 502, and not as this service does/);
  assert.match((await ask('/ok')).stderr, /answered in another form/);
  const moved = await ask('/moved');
  assert.equal(moved.code, 1);
  assert.deepEqual(asked, ['/console/api/nodes', '/ok/console/api/nodes', '/moved/console/api/nodes']);
});
