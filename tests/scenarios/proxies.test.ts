/** The configurations of `deploy/`, run: what people get through nginx, Caddy and HAProxy over TLS and HTTP/2. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { certify } from '../support/certify.ts';
import { DEVICE, HANDSHAKE, parseEvents, spoken } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { projectRoot } from '../support/project-root.ts';
import { type RunningService, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';

const root = projectRoot();
const SOON_MS = 60_000;

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly service: string;
  readonly certificate: string;
  readonly key: string;
}

interface Proxy {
  readonly file: string;
  /** Words of the file that are of the place where it runs; each must be there. */
  changes(place: Place): readonly (readonly [string, string])[];
  /** What the file is included in, and the command that runs it. */
  run(place: Place, text: string): { readonly text: string; readonly args: readonly string[] };
}

const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    file: 'nginx.conf',
    changes: ({ port, service, certificate, key }) => [
      ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
      ['127.0.0.1:8787', service],
      ['/etc/ssl/assistant/fullchain.pem', certificate],
      ['/etc/ssl/assistant/privkey.pem', key],
    ],
    run({ folder }, text) {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/${name};`)
        .join(' ');
      const around = `daemon off; user root; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporary}`;
      return { text: `${around}\n${text}\n}`, args: ['-p', folder, '-c'] };
    },
  },
  caddy: {
    file: 'Caddyfile',
    changes: ({ port, service, certificate, key }) => [
      ['assistant.example {', `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`],
      ['127.0.0.1:8787', service],
    ],
    run: (_, text) => ({
      text: `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}`,
      args: ['run', '--adapter', 'caddyfile', '--config'],
    }),
  },
  haproxy: {
    file: 'haproxy.cfg',
    changes: ({ port, service, folder }) => [
      // As many as the limit of descriptors of a machine that runs tests allows.
      ['maxconn 20000', 'maxconn 200'],
      ['bind :443', `bind 127.0.0.1:${port}`],
      ['/etc/ssl/assistant/both.pem', join(folder, 'both.pem')],
      ['127.0.0.1:8787', service],
      ['  server node-2 127.0.0.1:8788\n', ''],
    ],
    run: (_, text) => ({ text, args: ['-db', '-f'] }),
  },
};

const isThere = (program: string) => spawnSync('which', [program], { env: { PATH: `${process.env.PATH}:/usr/sbin` } }).status === 0;
const missing = (program: string) => ([program, 'openssl'].every(isThere) ? false : `${program} and openssl are not installed`);

async function startProxy(t: TestContext, program: string, service: RunningService): Promise<ClientHttp2Session> {
  const proxy = PROXIES[program] as Proxy;
  const folder = temporaryDir(t);
  const place = { folder, port: await freePort(), service: new URL(service.baseUrl).host, ...certify(folder) };
  let text = readFileSync(join(root, 'deploy', proxy.file), 'utf8');
  for (const [before, after] of proxy.changes(place)) {
    assert.ok(text.includes(before), `${proxy.file} has no "${before}"`);
    text = text.replace(before, after);
  }
  const { text: whole, args } = proxy.run(place, text);
  const file = join(folder, proxy.file);
  writeFileSync(file, whole);
  const env = { PATH: `${process.env.PATH}:/usr/sbin`, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child: ChildProcess = spawn(program, [...args, file], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  t.after(async () => {
    const gone = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGTERM');
    await gone;
  });
  let session: ClientHttp2Session | undefined;
  await eventually(
    async () => {
      const trial = connect(`https://localhost:${place.port}`, { ca: readFileSync(place.certificate), host: '127.0.0.1' });
      trial.on('error', () => {});
      const isUp = await Promise.race([once(trial, 'connect').then(() => true), once(trial, 'close').then(() => false)]).catch(() => false);
      if (isUp) session = trial;
      return isUp;
    },
    SOON_MS,
    () => said,
  );
  assert.ok(session);
  const open = session;
  t.after(() => open.destroy());
  return open;
}

interface Asked {
  readonly status: number;
  /** Waits until what came so far holds the words. */
  until(words: string): Promise<void>;
  /** All of it, once it has ended. */
  whole(): Promise<string>;
}

async function ask(session: ClientHttp2Session, method: string, path: string, key = '', body?: object): Promise<Asked> {
  const headers = {
    ':method': method,
    ':path': path,
    'x-service-key': key,
    'x-service-device': DEVICE,
    'content-type': 'application/json',
  };
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(JSON.stringify(body));
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  const ended = once(stream, 'end');
  const [answer] = (await once(stream, 'response')) as [{ ':status'?: number }];
  return {
    status: answer[':status'] ?? 0,
    until: (words) =>
      eventually(
        () => text.includes(words),
        SOON_MS,
        () => text,
      ),
    whole: () => ended.then(() => text),
  };
}

describe('proxies in front', () => {
  for (const program of Object.keys(PROXIES)) {
    test(`HTTP-30: behind ${program} as deploy/ has it words come as the model says them, a drain loses no turn, and readiness is not for strangers`, {
      skip: missing(program),
    }, async (t) => {
      let release: () => void = () => {};
      const wait = new Promise<void>((resolve) => {
        release = resolve;
      });
      const upstream = await startUpstream(t, () => [{ text: 'The first words. ' }, { wait }, { text: 'The last words.' }]);
      const service = await startService(t, { env: { ...upstreamEnv(upstream), TRUST_PROXY: '1', DEMO: 'on' } });
      const session = await startProxy(t, program, service);
      assert.equal((await ask(session, 'HEAD', '/healthz')).status, 200);
      for (const path of ['/metrics', '/readyz']) assert.equal((await ask(session, 'GET', path)).status, 404, path);
      const answer = await ask(session, 'POST', '/v1/chat', service.liveKey, { message: { text: 'Hello' }, client: HANDSHAKE });
      assert.equal(answer.status, 200);
      await answer.until('The first words.');
      const stopped = service.stop();
      release();
      const events = parseEvents(await answer.whole());
      assert.equal(events.at(-1)?.status, 'completed');
      assert.equal(spoken(events), 'The first words. The last words.');
      assert.equal(await stopped, 0);
    });
  }
});
