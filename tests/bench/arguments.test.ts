/** The command line of the benchmark. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Names, readArguments, UsageError } from '../../bench/arguments.ts';

const NAMES: Names = { parts: ['W1', 'W3', 'A1'], servers: ['relay', 'service', 'swift', 'slow'], peers: ['swift', 'slow'] };

function refusalOf(...argv: string[]): string {
  try {
    readArguments(argv, NAMES);
  } catch (error) {
    assert.ok(error instanceof UsageError);
    return error.message;
  }
  return '';
}

describe('BENCH-1: what the benchmark is asked for', () => {
  test('without options it is everything, five rounds', () => {
    const { parts, servers, rounds, quick, named } = readArguments([], NAMES);
    assert.deepEqual({ parts, servers }, { parts: NAMES.parts, servers: NAMES.servers });
    assert.deepEqual({ rounds, quick, named }, { rounds: 5, quick: false, named: false });
  });

  test('several parts and servers are named by commas, and keep the order of all', () => {
    const { parts, servers, named } = readArguments(['--only', 'A1, W1', '--peer=slow,relay'], NAMES);
    assert.deepEqual({ parts, servers, named }, { parts: ['W1', 'A1'], servers: ['relay', 'slow'], named: true });
  });

  test('a server that stands apart is measured where it is named only', () => {
    const names = { ...NAMES, apart: ['service'] };
    assert.deepEqual(readArguments([], names).servers, ['relay', 'swift', 'slow']);
    assert.deepEqual(readArguments(['--peer', 'service'], names).servers, ['service']);
  });

  test('a quick run is one round without peers, unless it is told otherwise', () => {
    for (const argv of [['quick'], ['--quick']]) {
      const { servers, rounds, quick } = readArguments(argv, NAMES);
      assert.deepEqual({ servers, rounds, quick }, { servers: ['relay', 'service'], rounds: 1, quick: true });
    }
    const { servers, rounds } = readArguments(['quick', '--peer', 'swift', '--rounds', '2'], NAMES);
    assert.deepEqual({ servers, rounds }, { servers: ['swift'], rounds: 2 });
  });

  test('a short run is two rounds of what the service is held against', () => {
    const names = {
      parts: ['COLD', 'W1', 'W1B', 'W6', 'W7'],
      servers: ['relay', 'service', 'fastify', 'slow'],
      peers: ['fastify', 'slow'],
    };
    const { parts, servers, rounds, quick } = readArguments(['short'], names);
    assert.deepEqual({ parts, servers }, { parts: ['COLD', 'W1', 'W6'], servers: ['relay', 'service', 'fastify'] });
    assert.deepEqual({ rounds, quick }, { rounds: 2, quick: false });
    assert.deepEqual(readArguments(['short', '--peer', 'slow', '--only', 'W7'], names).servers, ['slow']);
  });

  test('what nobody knows is refused in one line that says what there is', () => {
    const all = 'the options are --only, --peer, --against, --rounds, --quick, --help';
    assert.equal(refusalOf('--fast'), `Unknown option '--fast': ${all}`);
    assert.equal(refusalOf('--only'), `Option '--only <value>' argument missing: ${all}`);
    assert.equal(refusalOf('slowly'), `"slowly" is no command: only quick, short, report and readme are, and ${all}`);
    assert.equal(refusalOf('--only', 'W1,W9'), '--only does not know "W9": choose from W1, W3, A1');
    assert.equal(refusalOf('--peer', ''), '--peer does not know "": choose from relay, service, swift, slow');
    for (const rounds of ['0', '-1', '2.5', 'many', '1001']) {
      assert.match(refusalOf(`--rounds=${rounds}`), /^--rounds takes a whole number from 1 to 1000$/);
    }
  });

  test('a run that would measure nothing is refused before it writes a report', () => {
    const program = join(import.meta.dirname, '../../bench/run.js');
    const refused: readonly (readonly [RegExp, ...string[]])[] = [
      [/^bench: there is nothing to measure: A1 asks the service: add it to --peer$/, '--peer', 'relay', '--only', 'A1'],
      [
        /^bench: --against compares with the service: name it too, as --peer service,relay$/,
        ...['--peer', 'relay', '--against', join(import.meta.dirname, '../..')],
      ],
    ];
    for (const [words, ...argv] of refused) {
      const { status, stderr, stdout } = spawnSync(process.execPath, [program, ...argv], { encoding: 'utf8' });
      assert.match(stderr.trim(), words);
      assert.deepEqual([status, stdout], [2, '']);
    }
  });

  test('--help says in short what there is, and measures nothing', () => {
    const program = join(import.meta.dirname, '../../bench/run.js');
    for (const option of ['--help', '-h']) {
      const { status, stderr, stdout } = spawnSync(process.execPath, [program, option], { encoding: 'utf8' });
      assert.deepEqual([status, stderr], [0, '']);
      for (const line of [
        /^ {2}--only LIST /m,
        /^ {2}W1B +200 deltas in bursts/m,
        /^ {2}COLD +the first turns of a fresh process$/m,
        /^ {2}relay +\S/m,
        /^ {2}mastra +\S/m,
      ])
        assert.match(stdout, line);
    }
  });

  test('the program says so without a stack trace, and exits with 2', () => {
    const program = join(import.meta.dirname, '../../bench/run.js');
    for (const argv of [
      ['--only', 'W99'],
      ['--nonsense'],
      ['--against', import.meta.dirname],
      ['report'],
      ['report', import.meta.filename],
    ]) {
      const { status, stderr, stdout } = spawnSync(process.execPath, [program, ...argv], { encoding: 'utf8' });
      assert.equal(status, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, /^bench: [^\n]+\n$/);
    }
  });
});
