/** The supervisor of WORKERS, as a process of its own over stand-in workers. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { SupervisorTimes } from '../../../program/workers/supervisor.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const PROGRAM = fileURLToPath(new URL('./supervisor-program.js', import.meta.url));
const SOON_MS = 60_000;

interface Line {
  readonly event?: string;
  readonly node?: string;
  readonly pid?: number;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

interface Supervised {
  readonly pid: number;
  readonly dir: string;
  /** What came on stderr so far, whole lines; those that are no JSON as `{ text }`. */
  lines(): Line[];
  stdout(): string;
  /** Process ids of each worker's lives, in order. */
  lives(node: string): number[];
  /** Waits until `count` lines fit. */
  seen(what: Partial<Line>, count?: number): Promise<Line[]>;
  command(what: 'fail' | 'stubborn', node: string): void;
  takeBack(what: 'fail' | 'stubborn', node: string): void;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | null>;
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function parsed(text: string): Line {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

interface Wish {
  readonly workers?: number;
  readonly port?: number;
  readonly times?: Partial<SupervisorTimes>;
  /** What workers do from their start, as in `command`. */
  readonly bound?: readonly (readonly ['fail' | 'stubborn' | 'torn', node: string])[];
}

function supervised(t: TestContext, { workers = 2, port = 0, times = {}, bound = [] }: Wish = {}): Supervised {
  const dir = temporaryDir(t);
  const path = (what: string, node: string) => join(dir, `${what}-${node}`);
  for (const [what, node] of bound) writeFileSync(path(what, node), '');
  const quick = { firstBackOffMs: 20, longestBackOffMs: 100, ...times };
  const env = { PATH: process.env.PATH, WORKERS: String(workers), NAME: 'n', PORT: String(port), DIR: dir, TIMES: JSON.stringify(quick) };
  const child = spawn(process.execPath, ['--enable-source-maps', PROGRAM, 'an-argument'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const lines = () => stderr.split('\n').slice(0, -1).map(parsed);
  const matching = (what: Partial<Line>) => lines().filter((line) => Object.entries(what).every(([field, value]) => line[field] === value));
  const lives = (node: string) => matching({ event: 'started', node }).map(({ pid }) => Number(pid));
  t.after(async () => {
    child.kill('SIGKILL');
    for (const { pid } of matching({ event: 'started' })) if (pid !== undefined && alive(pid)) process.kill(pid, 'SIGKILL');
    await ended;
  });
  return {
    pid: child.pid as number,
    dir,
    lines,
    stdout: () => stdout,
    lives,
    async seen(what, count = 1) {
      await eventually(
        () => matching(what).length >= count,
        SOON_MS,
        () => `${count} × ${JSON.stringify(what)} in\n${stdout}${stderr}`,
      );
      return matching(what);
    },
    command: (what, node) => writeFileSync(path(what, node), ''),
    takeBack: (what, node) => rmSync(path(what, node)),
    signal: (signal) => void child.kill(signal),
    ended,
  };
}

const UP = { msg: 'all workers were started' };

/** `started n-1`, `listening n-1`, … in the order in which the lines came. */
function outline(lines: readonly Line[], events: readonly string[]): string[] {
  return lines.filter(({ event }) => event !== undefined && events.includes(event)).map(({ event, node }) => `${event} ${node}`);
}

// Each waits for processes most of its time.
describe('supervisor', { concurrency: 4 }, () => {
  test('RUN-19: workers start one after the other, on the port that the first one took, and one banner is shown', async (t) => {
    const program = supervised(t, { workers: 3 });
    await program.seen(UP);
    assert.deepEqual(
      outline(program.lines(), ['started', 'listening']),
      ['n-1', 'n-2', 'n-3'].flatMap((node) => [`started ${node}`, `listening ${node}`]),
    );
    const started = await program.seen({ event: 'started' }, 3);
    assert.deepEqual(
      started.map(({ port, workers, args, execArgv }) => ({ port, workers, args, execArgv })),
      ['0', '40321', '40321'].map((port) => ({ port, workers: null, args: ['an-argument'], execArgv: ['--enable-source-maps'] })),
    );
    assert.equal(program.stdout(), 'Up with 3 workers.\n');
  });

  test('RUN-19: lines of all workers come whole in one stream, though each writes them in pieces', async (t) => {
    const nodes = ['n-1', 'n-2', 'n-3'];
    const program = supervised(t, { workers: 3, bound: nodes.map((node) => ['torn', node] as const) });
    await Promise.all(nodes.map((node) => program.seen({ event: 'torn', whole: true, node }, 20)));
    assert.deepEqual(
      program.lines().filter((line) => 'text' in line),
      [],
    );
  });

  test('RUN-20: a worker that is killed, or ends with 0 unasked, is started again; the rest go on and no banner comes twice', async (t) => {
    const program = supervised(t);
    await program.seen(UP);
    process.kill(program.lives('n-1')[0] as number, 'SIGKILL');
    await program.seen({ event: 'listening', node: 'n-1' }, 2);
    process.kill(program.lives('n-1')[1] as number, 'SIGUSR2');
    await program.seen({ event: 'listening', node: 'n-1' }, 3);
    const ends = await program.seen({ msg: 'a worker exited: starting it again', worker: 'n-1' }, 2);
    assert.deepEqual(
      ends.map(({ code, signal }) => [code, signal]),
      [
        [null, 'SIGKILL'],
        [0, null],
      ],
    );
    assert.equal(program.lives('n-2').length, 1);
    assert.equal(program.lines().findLast(({ event, node }) => event === 'started' && node === 'n-1')?.port, '40321');
    assert.equal(program.stdout(), 'Up with 2 workers.\n');
  });

  test('RUN-20: the pause of a worker that does not come up doubles up to the longest, and begins anew after a long life', async (t) => {
    const again = { msg: 'a worker exited: starting it again' };
    const program = supervised(t, { bound: [['fail', 'n-2']] });
    const waits = (await program.seen(again, 4)).slice(0, 4).map(({ retry_in_ms }) => retry_in_ms);
    assert.deepEqual(waits, [20, 40, 80, 100]);
    program.takeBack('fail', 'n-2');
    await program.seen({ event: 'listening', node: 'n-2' });
    // Every life is a long one.
    const settled = supervised(t, { bound: [['fail', 'n-2']], times: { settledMs: 0 } });
    assert.deepEqual(
      (await settled.seen(again, 3)).slice(0, 3).map(({ retry_in_ms }) => retry_in_ms),
      [20, 20, 20],
    );
  });

  test('RUN-20: when all workers are killed at once, one of them is started at once', async (t) => {
    const program = supervised(t, { times: { firstBackOffMs: 2_000, longestServedBackOffMs: 2_000 } });
    await program.seen(UP);
    for (const node of ['n-1', 'n-2']) process.kill(program.lives(node)[0] as number, 'SIGKILL');
    const ends = await program.seen({ msg: 'a worker exited: starting it again' }, 2);
    assert.deepEqual(ends.map(({ retry_in_ms }) => retry_in_ms).sort(), [0, 2_000]);
    await program.seen({ event: 'listening', node: 'n-1' }, 2);
    await program.seen({ event: 'listening', node: 'n-2' }, 2);
  });

  test('RUN-19: a first worker that does not come up ends the supervisor with its exit code and what it said', async (t) => {
    const program = supervised(t, { bound: [['fail', 'n-1']] });
    assert.equal(await program.ended, 3);
    assert.deepEqual(
      program.lines().filter(({ event }) => event !== 'started'),
      [{ text: 'PORT is "x", but it must be a number.' }],
    );
    assert.deepEqual(outline(program.lines(), ['started']), ['started n-1']);
  });

  test('RUN-22: a signal is passed on once, and the supervisor ends with 0 when all are gone', async (t) => {
    const program = supervised(t);
    await program.seen(UP);
    // Twice at once, as Ctrl-C under npm comes; not the same one, or the kernel makes one of both. Either may be the first.
    program.signal('SIGINT');
    program.signal('SIGTERM');
    assert.equal(await program.ended, 0);
    const [{ signal: first } = {}] = await program.seen({ msg: 'stopping the workers' });
    const asked = program.lines().flatMap(({ event, node, signal }) => (event === 'asked' ? [`${signal} ${node}`] : []));
    assert.deepEqual(asked.sort(), [`${first} n-1`, `${first} n-2`]);
    const said = program.lines().flatMap(({ msg }) => (msg === undefined || msg === UP.msg ? [] : [msg]));
    assert.deepEqual(said, ['stopping the workers', 'stopped'], 'nothing was killed');
  });

  test('RUN-22: a worker that does not end in time, or when asked again, is killed', async (t) => {
    const inTime = supervised(t, { times: { stopMs: 2_000 } });
    await inTime.seen(UP);
    inTime.command('stubborn', 'n-2');
    inTime.signal('SIGTERM');
    assert.equal(await inTime.ended, 0);
    assert.deepEqual(
      (await inTime.seen({ msg: 'a worker did not exit in time: killing it' })).map(({ worker }) => worker),
      ['n-2'],
    );

    const again = supervised(t, { times: { sameSignalMs: 0 } });
    await again.seen(UP);
    again.command('stubborn', 'n-1');
    again.signal('SIGTERM');
    await again.seen({ event: 'asked', node: 'n-1' });
    again.signal('SIGTERM');
    assert.equal(await again.ended, 0);
    await again.seen({ msg: 'second signal: killing the workers' });
  });

  test('RUN-21: a worker that stands still is killed and started again; one that lives is left alone', async (t) => {
    // Long enough for a stand-in that has to wait for a core.
    const stuckMs = 4_000;
    const program = supervised(t, { times: { stuckMs } });
    await program.seen(UP);
    const [stuck = Number.NaN] = program.lives('n-2');
    process.kill(stuck, 'SIGSTOP');
    const [line] = await program.seen({ msg: 'a worker does not respond: killing it' });
    assert.equal(line?.worker, 'n-2');
    await program.seen({ event: 'listening', node: 'n-2' }, 2);
    assert.deepEqual([alive(stuck), program.lives('n-2').length, program.lives('n-1').length], [false, 2, 1]);
  });

  test('RUN-23: SIGHUP restarts the workers one after the other', async (t) => {
    const program = supervised(t, { workers: 3 });
    await program.seen(UP);
    const before = program.lines().length;
    program.signal('SIGHUP');
    await program.seen({ msg: 'the restart of the workers ended' });
    assert.deepEqual(
      outline(program.lines().slice(before), ['asked', 'started', 'listening']),
      ['n-1', 'n-2', 'n-3'].flatMap((node) => [`asked ${node}`, `started ${node}`, `listening ${node}`]),
    );
    program.command('fail', 'n-1');
    program.signal('SIGHUP');
    await program.seen({ msg: 'the restart of the workers ended' }, 2);
    await program.seen({
      msg: 'a restarted worker did not start: the restart ended, and the other workers were not restarted',
      worker: 'n-1',
    });
    assert.deepEqual([program.lives('n-2').length, program.lives('n-3').length], [2, 2], 'the others were left alone');
    program.takeBack('fail', 'n-1');
    await program.seen({ event: 'listening', node: 'n-1' }, 3);
  });

  test('RUN-24: when the supervisor is killed its workers do not live on', async (t) => {
    const program = supervised(t);
    await program.seen(UP);
    const pids = ['n-1', 'n-2'].flatMap((node) => program.lives(node));
    assert.deepEqual(pids.map(alive), [true, true]);
    process.kill(program.pid, 'SIGKILL');
    await eventually(
      () => !pids.some(alive),
      SOON_MS,
      () => `${pids.filter(alive).join(', ')} live on`,
    );
  });

  test('RUN-5, RUN-19: a port that somebody else listens on is refused, and nothing is started', async (t) => {
    const stranger = createServer().listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    t.after(() => stranger.close());
    const { port } = stranger.address() as { port: number };
    const program = supervised(t, { port, times: { portFreeMs: 200 } });
    assert.equal(await program.ended, 1);
    assert.deepEqual(program.lines(), [
      { text: `Cannot listen on 127.0.0.1:${port}: the address is taken or not this machine's (EADDRINUSE).` },
    ]);
  });
});
