/** The command line as a whole: what it is called with, exit codes, help; and once as the process that npm starts. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../../../program/cli/commands.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { cliFixture } from './fixture.ts';

const PROGRAM = fileURLToPath(new URL('../../../cli.js', import.meta.url));

describe('RUN-26: help comes from the table of commands', () => {
  test('every command is listed with what it does, and has a help of its own with each of its options', async () => {
    const { run } = cliFixture();
    const all = await run('help');
    assert.deepEqual([all.code, all.stderr], [0, '']);
    for (const { name, usage, does, options } of COMMANDS) {
      assert.match(all.stdout, new RegExp(`^  ${`${name} ${usage}`.trim().replaceAll(/[[\]]/g, '\\$&')} +\\S`, 'm'));
      assert.ok(all.stdout.includes(does), `${name}: ${does}`);
      const own = await run('help', name);
      assert.ok(own.stdout.includes(does));
      for (const option of [...Object.keys(options), 'url', 'json']) assert.match(own.stdout, new RegExp(`^  --${option}\\b`, 'm'));
      assert.deepEqual(await run(name, '--help'), own);
    }
    assert.deepEqual(await run('--help'), all);
    assert.equal(new Set(COMMANDS.map(({ name }) => name)).size, COMMANDS.length);
  });
});

describe('RUN-26: what makes no sense is exit code 2 and says how the command is called', () => {
  for (const [words, said] of [
    [[], /<command>/],
    [
      ['nodse'],
      /no command nodse\. There are: nodes, actors, drain, move, backup, restore, cell, token, config, doctor, diagram, replay, watch, help/,
    ],
    [['--json', 'nodes'], /before its options/],
    [['drain'], /drain needs <node>/],
    [['nodes', 'one'], /nodes takes no "one"/],
    [['actors', '--lmit', '3'], /'--lmit'/],
    [['actors', '--node'], /'--node <value>' argument missing/],
    [['move', 'org_1'], /to which cell, or --status/],
    [['move', 'org_1', 'b', '--status'], /takes the organisation only/],
    [['help', 'nodse'], /no command nodse/],
    [['diagram', 'chatturn'], /no machine chatturn\. There are: chat-turn, invocation, /],
  ] as const) {
    test(['npm run cli --', ...words].join(' '), async () => {
      const { code, stdout, stderr } = await cliFixture().run(...words);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, said);
      assert.match(stderr, /npm run cli -- /);
    });
  }
});

describe('RUN-26: what fails is exit code 1 with one line that says what to do', () => {
  test('no token, nobody there, a bad address, a bad variable', async () => {
    const given = { operatorToken: 'operator-token-of-these-tests' };
    for (const [config, words, said] of [
      [{}, ['nodes'], /cannot be read from .*operator-token \(ENOENT\)\. Set DATA_DIR .* or set OPERATOR_TOKEN\.$/],
      [
        given,
        ['nodes'],
        /^The service at http:\/\/127\.0\.0\.1:9 cannot be reached \(.+\)\. Start it, or give the address of a node with --url\.$/,
      ],
      [{ ...given, host: '::' }, ['nodes'], /^The service at http:\/\/\[::1\]:9 cannot be reached/],
      [{ ...given, publicUrl: 'http://127.0.0.1:9/base/' }, ['actors'], /^The service at http:\/\/127\.0\.0\.1:9\/base cannot be reached/],
      [given, ['drain', 'one', '--url', 'nodes.example'], /^nodes\.example is no http or https address\./],
    ] as const) {
      const { code, stdout, stderr } = await cliFixture(config).run(...words);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr.trimEnd(), said);
      assert.equal(stderr.split('\n').length, 2, stderr);
    }
  });
});

describe('RUN-26: the process', () => {
  const run = (t: Parameters<typeof temporaryDir>[0], words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const dataDir = temporaryDir(t);
    writeFileSync(join(dataDir, 'operator-token'), 'rd_op_of-this-test\n');
    const options = { env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...env }, encoding: 'utf8', timeout: 120_000 } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--enable-source-maps', PROGRAM, ...words], options);
    return [status, stdout, stderr];
  };

  test('reads the environment as the service does; answers on stdout, the rest on stderr', (t) => {
    const [done, said, nothing] = run(t, ['token']);
    assert.deepEqual([done, nothing], [0, '']);
    assert.match(String(said), /operator-token holds the digest/);
    const [code, stdout, stderr] = run(t, ['nodes'], { PORT: 'x' });
    assert.deepEqual([code, stdout, stderr], [1, '', 'PORT is "x", but it must be a number from 0 to 65535.\n']);
    const help = run(t, ['help'], { PORT: 'x' });
    assert.deepEqual([help[0], help[2]], [0, ''], 'help needs no environment');
  });
});
