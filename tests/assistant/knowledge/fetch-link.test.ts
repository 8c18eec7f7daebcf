import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createAddressGuard } from '../../../assistant/http/address-guard.ts';
import { type FetchOptions, fetchLink, LINK_USER_AGENT } from '../../../assistant/knowledge/fetch-link.ts';
import { LinkError } from '../../../assistant/knowledge/link-error.ts';
import { LINK_MAX_BYTES } from '../../../protocol/limits.ts';
import { eventually } from '../../support/eventually.ts';
import { OPEN_GUARD, type Pages, reply, startSite } from './link-site.ts';

const SMALL = 64 * 1024;

function get(uri: string, options: Partial<FetchOptions> = {}) {
  return fetchLink(uri, { guard: OPEN_GUARD, timeoutMs: 10_000, ...options });
}

/** Expects the fetch to fail with a sentence for a person that tells nothing of this machine. */
async function refused(uri: string, sentence: RegExp, options: Partial<FetchOptions> = {}): Promise<void> {
  await assert.rejects(get(uri, options), (error) => {
    assert.ok(error instanceof LinkError, String(error));
    assert.match(error.message, sentence);
    assert.match(error.message, /^[A-Z].*\.$/s, 'it is a sentence');
    assert.doesNotMatch(error.message, /127\.0\.0\.1|localhost|ECONN|UND_ERR|node:|undici/);
    return true;
  });
}

/** A site with one document, and its address. */
async function page(t: TestContext, pages: Pages): Promise<string> {
  return `${(await startSite(t, pages)).url}/page`;
}

test('LINK-11: a document comes with its type and its charset, asked for by path and query', async (t) => {
  const type = 'Text/HTML; Charset="ISO-8859-1"; x=y';
  const site = await startSite(t, (_req, res) => reply(res, type, Buffer.from('<p>caf\xe9', 'latin1')));
  const fetched = await get(`${site.url}/page?q=1#part`);
  assert.deepEqual(
    site.requests.map(({ url }) => url),
    ['/page?q=1'],
  );
  assert.deepEqual([fetched.mediaType, fetched.charset], ['text/html', 'iso-8859-1']);
  assert.equal(Buffer.from(fetched.bytes).toString('latin1'), '<p>caf\xe9');
});

test('LINK-9: a request says honestly who asks, and carries neither cookies nor credentials, also after a redirect', async (t) => {
  const site = await startSite(t, (req, res) => {
    if (req.url === '/start') res.writeHead(302, { Location: '/end', 'Set-Cookie': 'a=b' }).end();
    else reply(res, 'text/plain', 'end');
  });
  await get(`${site.url}/start`);
  assert.deepEqual(
    site.requests.map(({ url }) => url),
    ['/start', '/end'],
  );
  for (const { headers } of site.requests) {
    assert.equal(headers['user-agent'], LINK_USER_AGENT);
    assert.deepEqual([headers.cookie, headers.authorization, headers.referer], [undefined, undefined, undefined]);
  }
});

test('LINK-11: the five types are read, others are refused by name', async (t) => {
  const site = await startSite(t, (req, res) => {
    const type = decodeURIComponent((req.url ?? '').slice(1));
    if (type === '') res.writeHead(200).end('x');
    else reply(res, type, 'x');
  });
  for (const type of ['text/html', 'text/plain', 'text/markdown', 'application/pdf', 'application/json']) {
    assert.equal((await get(`${site.url}/${encodeURIComponent(type)}`)).mediaType, type);
  }
  for (const type of ['image/png', 'application/octet-stream', 'text/css', 'application/xhtml+xml', 'text/htmlx']) {
    await refused(`${site.url}/${encodeURIComponent(type)}`, new RegExp(`has the type ${type.replace('+', '\\+')}; read are text/html,`));
  }
  await refused(`${site.url}/${encodeURIComponent('<script>')}`, /has the type unknown;/);
  await refused(`${site.url}/`, /does not say what type/);
});

test('LINK-8: five redirects are followed, a sixth is not', async (t) => {
  const site = await startSite(t, (req, res) => {
    const left = Number((req.url ?? '').slice(1));
    if (left === 0) reply(res, 'text/plain', 'end');
    else res.writeHead([301, 302, 303, 307, 308][left % 5] ?? 302, { Location: `./${left - 1}` }).end('moved');
  });
  assert.equal(Buffer.from((await get(`${site.url}/5`)).bytes).toString(), 'end');
  await refused(`${site.url}/6`, /redirects more than 5 times/);
  assert.equal(site.requests.length, 6 + 6);
});

test('LINK-8: a redirect follows the same rules as a link', async (t) => {
  const targets: Readonly<Record<string, RegExp>> = {
    'file:///etc/passwd': /Only http and https/,
    'ftp://example.com/': /Only http and https/,
    'gopher://127.0.0.1:70/': /Only http and https/,
    'http://user:secret@example.com/': /must not hold a user name or a password/,
    'http://example.com:8080/': /Only the ports 80 and 443/,
    'http://[::ffff:127.0.0.1]/': /leads to an IPv4 address inside an IPv6 address/,
    'http://169.254.169.254/latest/meta-data': /leads to a link-local address/,
    'http://[': /malformed/,
  };
  const site = await startSite(t, (req, res) => {
    const location = Object.keys(targets)[Number((req.url ?? '').slice(1))];
    res.writeHead(302, location === undefined ? {} : { Location: location }).end();
  });
  for (const [at, sentence] of Object.values(targets).entries()) await refused(`${site.url}/${at}`, sentence);
  await refused(`${site.url}/none`, /without saying where to/);
});

test('LINK-6: ports other than 80 and 443 are refused before anything is asked, and with them other schemes and credentials', async () => {
  const guard = createAddressGuard({ allowPrivate: false, resolve: () => assert.fail('nothing is resolved') });
  const links: Readonly<Record<string, RegExp>> = {
    'http://example.com:8080/': /Only the ports 80 and 443/,
    'https://example.com:22/': /Only the ports 80 and 443/,
    'http://127.0.0.1:8787/': /Only the ports 80 and 443/,
    'ftp://example.com/': /Only http and https/,
    'javascript:alert(1)': /Only http and https/,
    'https://user@example.com/': /user name or a password/,
    'https://': /malformed/,
    nonsense: /malformed/,
  };
  for (const [link, sentence] of Object.entries(links)) await refused(link, sentence, { guard });
});

test('LINK-10: an answer other than 200 is named', async (t) => {
  const site = await startSite(t, (req, res) => res.writeHead(Number((req.url ?? '').slice(1)), { 'Content-Type': 'text/plain' }).end());
  for (const status of [204, 206, 304, 404, 429, 500])
    await refused(`${site.url}/${status}`, new RegExp(`answered with status ${status}\\.`));
});

test('LINK-10: gzip, deflate and br are read, other encodings and broken ones are refused', async (t) => {
  const text = 'Thirty days. '.repeat(500);
  const bodies: Readonly<Record<string, Buffer>> = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text) };
  const site = await startSite(t, (req, res) => {
    const [, how = '', encoding = ''] = (req.url ?? '').split('/');
    const body = bodies[encoding] ?? Buffer.from(text);
    const sent = how === 'cut' ? body.subarray(0, body.length - 5) : how === 'broken' ? Buffer.from(text) : body;
    reply(res, 'text/plain', sent, { 'Content-Encoding': encoding });
  });
  for (const encoding of ['gzip', 'deflate', 'br', 'identity']) {
    assert.equal(Buffer.from((await get(`${site.url}/whole/${encoding}`)).bytes).toString(), text, encoding);
  }
  for (const encoding of ['gzip', 'deflate', 'br']) {
    await refused(`${site.url}/cut/${encoding}`, /compressed in a way that could not be read/);
    await refused(`${site.url}/broken/${encoding}`, /compressed in a way that could not be read/);
  }
  for (const encoding of ['zstd', 'constructor', 'gzip, gzip']) {
    await refused(`${site.url}/whole/${encodeURIComponent(encoding)}`, /compressed in a way that (?:is not|could not be) read/);
  }
});

test('LINK-10: 10 MB are read and one byte more is not, with and without a Content-Length', async (t) => {
  const site = await startSite(t, (req, res) => {
    const body = Buffer.alloc(LINK_MAX_BYTES + (req.url?.endsWith('more') ? 1 : 0), 'a');
    if (req.url?.startsWith('/said')) reply(res, 'text/plain', body, { 'Content-Length': String(body.length) });
    else {
      res.writeHead(200, { 'Content-Type': 'text/plain' });
      res.write(body);
      res.end();
    }
  });
  assert.equal((await get(`${site.url}/unsaid`)).bytes.length, LINK_MAX_BYTES);
  assert.equal((await get(`${site.url}/said`)).bytes.length, LINK_MAX_BYTES);
  await refused(`${site.url}/said-more`, /larger than 10 MB/);
  await refused(`${site.url}/unsaid-more`, /larger than 10 MB/);
});

test('LINK-10: a bomb is counted as it unfolds: the site is hung up on long before its end', async (t) => {
  // 64 MB of zeros each; the connection would carry some 60 KB of it.
  const zeros = Buffer.alloc(64 * 1024 * 1024);
  const bombs: Readonly<Record<string, Buffer>> = {
    gzip: gzipSync(zeros, { level: 1 }),
    br: brotliCompressSync(zeros, { params: { 1: 1 } }),
  };
  const site = await startSite(t, (req, res) => {
    const encoding = (req.url ?? '').slice(1);
    reply(res, 'text/html', bombs[encoding] ?? '', { 'Content-Encoding': encoding });
  });
  for (const encoding of Object.keys(bombs)) {
    const before = process.memoryUsage().arrayBuffers;
    await refused(`${site.url}/${encoding}`, /larger than/);
    assert.ok(process.memoryUsage().arrayBuffers - before < 32 * 1024 * 1024, 'it was not unfolded');
  }
});

test('LINK-10: bytes that unfold to nothing are counted too, and an endless answer ends', async (t) => {
  const empty = gzipSync('');
  let written = 0;
  const site = await startSite(t, (req, res) => {
    const chunk = req.url === '/empty' ? Buffer.concat(Array.from({ length: 500 }, () => empty)) : Buffer.alloc(10_000, 'a');
    res.writeHead(200, { 'Content-Type': 'text/plain', ...(req.url === '/empty' ? { 'Content-Encoding': 'gzip' } : {}) });
    const more = () => {
      while (!res.destroyed && res.write(chunk)) written += chunk.length;
    };
    res.on('drain', more);
    more();
  });
  await refused(`${site.url}/empty`, /larger than|compressed in a way/, { maxBytes: SMALL });
  await refused(`${site.url}/endless`, /larger than/, { maxBytes: SMALL });
  await eventually(
    async () => (await site.openSockets()) === 0,
    undefined,
    () => 'the connections are closed',
  );
  assert.ok(written < 100 * SMALL);
});

test('LINK-10: a site that is slow in any part is left when the time for all of it is over', async (t) => {
  const timers: NodeJS.Timeout[] = [];
  const drip = (write: () => void) => timers.push(setInterval(write, 20));
  t.after(() => timers.forEach(clearInterval));
  const site = await startSite(t, (req, res) => {
    if (req.url === '/body') {
      res.writeHead(200, { 'Content-Type': 'text/plain' });
      drip(() => res.write('a'));
    } else if (req.url === '/gzip') {
      res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' });
      res.write(gzipSync('hello').subarray(0, 12));
    } else if (req.url?.startsWith('/hop')) setTimeout(() => res.writeHead(302, { Location: `/hop${Date.now()}` }).end(), 60);
  });
  const headers = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\n');
    drip(() => socket.write('X-A: b\r\n'));
  });
  await new Promise<void>((resolve) => headers.listen(0, '127.0.0.1', resolve));
  t.after(() => headers.close());
  const { port } = headers.address() as { port: number };
  for (const url of [`${site.url}/silent`, `${site.url}/body`, `${site.url}/gzip`, `${site.url}/hop`, `http://127.0.0.1:${port}/`]) {
    await refused(url, /did not send the document within 1 seconds|too many headers/, { timeoutMs: 200 });
  }
  await eventually(
    async () => (await site.openSockets()) === 0,
    undefined,
    () => 'the connections are closed',
  );
});

test('LINK-10: a caller who gives up gets its own reason', async (t) => {
  const gaveUp = new AbortController();
  const url = await page(t, () => gaveUp.abort(new Error('the service stops')));
  await assert.rejects(get(url, { signal: gaveUp.signal }), /^Error: the service stops$/);
  await assert.rejects(get(url, { signal: gaveUp.signal }), /^Error: the service stops$/);
});

test('LINK-3: what goes wrong below HTTP is said in words', async (t) => {
  const site = await startSite(t, (_req, res) => res.destroy());
  await refused(`${site.url}/`, /The connection to the site failed\./);
  await refused(site.url.replace('http:', 'https:'), /No secure connection/);
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  await new Promise((resolve) => taken.close(resolve));
  await refused(`http://127.0.0.1:${port}/`, /refused the connection/);
  const resolve = () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' }));
  await refused('https://nowhere.example/', /name of the site could not be found/, {
    guard: createAddressGuard({ allowPrivate: false, resolve }),
  });
});
