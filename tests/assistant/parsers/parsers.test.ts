/** Strangers' documents must not stop the service: what a parser process may use, and what becomes of a document that wants more. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { extractDocument } from '../../../assistant/knowledge/extraction.ts';
import type { LinkMediaType } from '../../../assistant/knowledge/fetch-link.ts';
import { launchOf } from '../../../assistant/parsers/launch.ts';
import { ParserProcess } from '../../../assistant/parsers/parser-process.ts';
import { isIsolated, isLimitedBySystem, Parsers, ParsersBusy } from '../../../assistant/parsers/parsers.ts';
import { eventually } from '../../support/eventually.ts';
import { innermost } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { htmlBomb, jsonBomb, PDF_BOMBS, PDF_LOOPS } from './bombs.ts';

const MB = 1024 * 1024;
/** Less than the service's own, so that a bomb is over sooner. */
const LIMITS = { heapMaxMb: 96, dataMaxMb: 288, cpuMaxS: 20 };
/** Some of them would take until their memory or their CPU time is used up. */
const BOMB_TIMEOUT_MS = 1_500;
const PERSON = { asker: 'org_1', inBackground: false };
const TEXT = { mediaType: 'text/plain', charset: undefined } as const;
const parsers = new Parsers({ limits: LIMITS });
after(() => parsers.close());

function extract(mediaType: LinkMediaType, bytes: Uint8Array, timeoutMs = 60_000): Promise<string> {
  const options = { ...PERSON, timeoutMs };
  return extractDocument(parsers, { mediaType, charset: undefined }, () => bytes, options).then(({ text }) => text);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that nobody has asked after yet is dead all the same.
    return process.platform !== 'linux' || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const TOO_MUCH =
  /^LinkError: The document (?:is too complicated: reading it took too (?:much memory|long)|could not be read|has no text that could be read)\.$/;

describe('KNOWLEDGE-15: A document of 20 KB that unfolds to more than there is fails alone', () => {
  const bombs: Readonly<Record<string, readonly [LinkMediaType, () => Uint8Array]>> = {
    ...Object.fromEntries(Object.entries(PDF_BOMBS).map(([name, make]) => [`PDF: ${name}`, ['application/pdf', make] as const])),
    'JSON: nested, with a long list inside': ['application/json', jsonBomb],
  };
  for (const [name, [mediaType, make]] of Object.entries(bombs)) {
    test(name, async () => {
      const bytes = make();
      assert.ok(bytes.length < 64 * 1024, `${bytes.length} bytes`);
      const before = process.memoryUsage.rss();
      await assert.rejects(extract(mediaType, bytes, BOMB_TIMEOUT_MS), TOO_MUCH);
      assert.ok(process.memoryUsage.rss() - before < 64 * MB, 'nothing of it was here');
      assert.equal(await extract('text/plain', Buffer.from('Fine.')), 'Fine.');
    });
  }

  test('for the reason that it took too much memory, when it is given the time', async () => {
    const pool = new Parsers({ limits: { heapMaxMb: 64, dataMaxMb: 224, cpuMaxS: 60 }, parsers: 1 });
    const unfolds = PDF_BOMBS['a page that unfolds to blanks'] as () => Uint8Array;
    for (const [mediaType, bytes] of [
      ['application/json', jsonBomb()],
      ['application/pdf', unfolds()],
    ] as const) {
      const reading = pool.parse('document', { mediaType, charset: undefined }, () => bytes, { ...PERSON, timeoutMs: 120_000 });
      await assert.rejects(reading, { name: 'ParseFailure', kind: 'memory' });
    }
    assert.deepEqual(pool.deaths, { memory: 2, time: 0, broken: 0, unavailable: 0 });
    await pool.close();
  });

  test('a page of nine megabytes that makes a DOM of hundreds', async () => {
    await assert.rejects(extract('text/html', htmlBomb(), BOMB_TIMEOUT_MS), TOO_MUCH);
  });

  for (const [name, make] of Object.entries(PDF_LOOPS)) {
    test(`PDF: ${name} ends`, async () => {
      const outcome = await extract('application/pdf', make()).catch(String);
      assert.match(outcome, /^(?:abc?|One page\.|LinkError: The (?:document|PDF) .+)$/);
    });
  }
});

describe('KNOWLEDGE-15, KNOWLEDGE-16: a parser process', { skip: process.platform !== 'linux' && 'looks into /proc' }, () => {
  const WATCH_MB = 512;
  const document = {
    request: { job: 'document', input: { mediaType: 'text/plain' } },
    bytes: Buffer.from('Hi.'),
    timeoutMs: 60_000,
  } as const;

  test('has limits of the system’s, no environment, and no descriptor but its channel', async (t) => {
    const launch = launchOf(LIMITS, WATCH_MB);
    const parser = new ParserProcess(launch);
    t.after(() => parser.end());
    assert.deepEqual(await parser.parse(document), { kind: 'text', document: { title: '', text: 'Hi.' } });
    const pid = innermost(parser.pid);
    const at = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
    assert.equal(at('environ'), '');
    if (isLimitedBySystem) {
      const data = launch.args.find((arg) => arg.startsWith('--data='))?.slice(7);
      assert.ok(Number(data) >= LIMITS.dataMaxMb * MB && Number(data) <= 2 ** 30);
      assert.match(at('limits'), new RegExp(`^Max data size +${data} +${data} `, 'm'));
      assert.match(at('limits'), new RegExp(`^Max cpu time +${LIMITS.cpuMaxS} +${LIMITS.cpuMaxS + 1} `, 'm'));
      assert.match(at('limits'), /^Max core file size +0 +0 /m);
      assert.match(at('limits'), /^Max file size +0 +0 /m);
    }
    const opened = readdirSync(`/proc/${pid}/fd`).map((fd) => [fd, readlinkSync(`/proc/${pid}/fd/${fd}`)] as const);
    // Node keeps one descriptor back: of its root, which is mounted at /proc, where there are no devices.
    const own = /^anon_inode:|^pipe:|^\/dev\/null$|^\/proc$/;
    assert.deepEqual(
      opened.filter(([, leadsTo]) => !own.test(leadsTo)).map(([fd, leadsTo]) => [fd, leadsTo.replace(/\d+/, '…')]),
      [['3', 'socket:[…]']],
    );
  });

  test('KNOWLEDGE-18: that was taken over reaches no port, no socket, no process and no file of the host', {
    skip: !isIsolated() && 'no namespaces here',
  }, async (t) => {
    const path = join(temporaryDir(t), 'socket');
    const servers = [createServer().listen(0, '127.0.0.1'), createServer().listen(path), createServer().listen('\0of-a-test')];
    await Promise.all(servers.map((server) => once(server, 'listening')));
    t.after(() => servers.map((server) => server.close()));
    const { port } = (servers[0] as Server).address() as AddressInfo;
    // As native code would: without Node's permissions.
    const attack = `const net = require('node:net'), fs = require('node:fs'), tried = {};
      const reach = (name, where) => new Promise((done) => net.connect(where).on('connect', () => done(tried[name] = 'reached')).on('error', ({ code }) => done(tried[name] = code)));
      const attempt = (name, act) => { try { tried[name] = act(); } catch ({ code }) { tried[name] = code; } };
      attempt('kill', () => process.kill(${process.pid}, 0)); attempt('shell', () => process.kill(1, 'SIGKILL') && process.ppid);
      attempt('root', () => fs.readdirSync('/proc/1/root')); attempt('passwd', () => fs.readFileSync('/etc/passwd'));
      attempt('write', () => fs.mkdirSync('/new')); attempt('proc', () => fs.readdirSync('/proc').filter((name) => name > '0' && name < ':').length);
      Promise.all([reach('tcp', { port: ${port}, host: '127.0.0.1' }), reach('unix', ${JSON.stringify(path)}), reach('abstract', '\\0of-a-test')])
        .then(() => new net.Socket({ fd: 3 }).end(JSON.stringify(tried)));`;
    const { command, args } = launchOf(LIMITS, WATCH_MB);
    const own = args.slice(
      0,
      args.findIndex((arg) => arg.includes('-permission') || arg === '--permission'),
    );
    const child = spawn(command, [...own, '-e', attack], { env: {}, stdio: ['ignore', 'ignore', 'inherit', 'pipe'], cwd: '/' });
    const said = await text(child.stdio[3] as Readable);
    assert.deepEqual(JSON.parse(said), {
      ...{ kill: 'ESRCH', shell: 1, root: 'EACCES', passwd: 'ENOENT', write: 'EROFS', proc: 2 },
      ...{ tcp: 'ENETUNREACH', unix: 'ENOENT', abstract: 'ECONNREFUSED' },
    });
  });

  test('that is killed in between is replaced, and its document is none the wiser', async () => {
    const pool = new Parsers({ parsers: 1 });
    const read = () => pool.parse('document', TEXT, () => Buffer.from('Hi.'), PERSON);
    await read();
    await pool.close();
    await eventually(() => pool.processes === 0);
    assert.equal((await read()).kind, 'text');
    await pool.close();
  });

  test('that has nothing to read for a while ends', async () => {
    const pool = new Parsers({ idleMs: 1 });
    await pool.parse('document', TEXT, () => Buffer.from('Hi.'), {
      asker: 'a',
      inBackground: false,
    });
    await eventually(() => pool.processes === 0);
  });

  for (const [how, signal] of [
    ['is killed', 'SIGKILL'],
    ['is asked to end', 'SIGTERM'],
  ] as const) {
    test(`ends with the service when that ${how}, also in the middle of a document that never ends`, async () => {
      const owner = spawn(process.execPath, [new URL('./parser-owner.js', import.meta.url).pathname], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const said = await new Promise<string>((resolve) => owner.stdout.setEncoding('utf8').once('data', resolve));
      const pids = said.trim().split(' ').map(Number);
      assert.equal(pids.length, 2);
      assert.ok(pids.every(isRunning));
      owner.kill(signal);
      await eventually(() => !pids.some(isRunning));
    });
  }
});

test('KNOWLEDGE-15: a job that cannot be loaded is no fault of its document', () =>
  assert.rejects(
    parsers.parse('another' as 'image', {} as never, () => new Uint8Array(1), PERSON),
    { name: 'ParseFailure', kind: 'unavailable' },
  ));

test('KNOWLEDGE-17: Documents beyond those that may wait are refused, and nobody else’s', async () => {
  const pool = new Parsers({ parsers: 1 });
  const gaveUp = new AbortController();
  const read = (asker: string) =>
    pool.parse('document', TEXT, () => new Promise<Buffer>(() => {}), {
      asker,
      inBackground: false,
      signal: gaveUp.signal,
    });
  const kept = Array.from({ length: 9 }, () => read('org_1').catch((error: unknown) => error));
  await assert.rejects(read('org_1'), ParsersBusy);
  const other = read('org_2').catch((error: unknown) => error);
  assert.ok(!pool.hasRoom({ asker: 'org_1', inBackground: false }, 1));
  gaveUp.abort(new Error('over'));
  assert.equal(String(await other), 'Error: over');
  void kept;
});

test('KNOWLEDGE-18: where the system refuses namespaces the log says so, and /readyz to operators', async (t) => {
  const folder = temporaryDir(t);
  writeFileSync(join(folder, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const service = await startService(t, { env: { PATH: `${folder}:${process.env.PATH}`, DEMO: 'off' } });
  assert.match(service.output().stderr, /"level":"warn".*the system allows no namespaces: /);
  const ready = async (headers: Record<string, string>) => (await fetch(`${service.baseUrl}/readyz`, { headers })).json();
  assert.deepEqual(await ready({}), { status: 'ready' });
  const { version: _, ...told } = (await ready({ Authorization: `Bearer ${service.operatorToken}` })) as Record<string, unknown>;
  assert.deepEqual(told, { status: 'ready', parsers_isolated: false });
});
