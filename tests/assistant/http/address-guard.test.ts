import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { Client } from 'undici';
import { type AddressGuard, AddressRefused, createAddressGuard, type ResolvedAddress } from '../../../assistant/http/address-guard.ts';
import { fetchLink } from '../../../assistant/knowledge/fetch-link.ts';
import { LinkError } from '../../../assistant/knowledge/link-error.ts';

/** Hosts as somebody who means harm writes them, by what they must be recognised as. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  loopback: [
    '127.0.0.1',
    '127.0.0.1.',
    '127.255.255.254',
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0x7F.1',
    '127.1',
    '127.0.1',
    '0177.0.0.1',
    '0177.1',
    '0x7f.0x0.0x0.0x1',
    '00000177.0.0.0x1',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '127%2e0%2e0%2e1',
    '%31%32%37.0.0.1',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000::0001]',
  ],
  unspecified: ['0.0.0.0', '0', '0x0', '0.1.2.3', '[::]'],
  private: [
    '10.0.0.1',
    '10.255.255.255',
    '167772161',
    '012.0.0.1',
    '0xa.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '3232235777',
    '0xc0.0xa8.1.1',
    '[fc00::1]',
    '[fdff:ffff::1]',
  ],
  'link-local': ['169.254.0.1', '169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '[fe80::1]', '[febf::1]'],
  metadata: ['[fd00:ec2::254]', '[fd00:0ec2:0::0254]', '[fd20:ce::254]', '168.63.129.16', '0xa83f8110'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.254', '100.100.100.200'],
  'IPv4 address inside': [
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::FFFF:10.0.0.1]',
    '[::ffff:169.254.169.254]',
    '[::ffff:8.8.8.8]',
    '[::ffff:0:127.0.0.1]',
  ],
  NAT64: ['[64:ff9b::7f00:1]', '[64:ff9b::10.0.0.1]', '[64:ff9b:1::7f00:1]', '[64:ff9b:1:ffff::a00:1]'],
  '6to4': ['[2002:7f00:1::]', '[2002:c0a8:101::1]', '[2002:808:808::1]'],
  Teredo: ['[2001::1]', '[2001:0:4136:e378:8000:63bf:80ff:fffe]'],
  multicast: ['224.0.0.1', '239.255.255.255', '[ff02::1]', '[ff0e::1]'],
  broadcast: ['255.255.255.255'],
  reserved: [
    '192.0.0.192',
    '192.0.2.1',
    '198.51.100.7',
    '203.0.113.9',
    '198.18.0.1',
    '198.19.255.255',
    '192.88.99.1',
    '240.0.0.1',
    '[::127.0.0.1]',
    '[::7f00:1]',
    '[fec0::1]',
    '[100::1]',
    '[2001:2::1]',
    '[2001:10::1]',
    '[2001:20::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '[5f00::1]',
    '[4000::1]',
    '[e000::1]',
  ],
};
const HOSTS = Object.values(HOSTILE).flat();

const PUBLIC = '93.184.215.14';

interface Listener {
  readonly port: number;
  readonly connections: () => number;
}

/** Listens on every address of this machine, so that whichever gets through is seen. */
async function listen(
  t: TestContext,
  answer: (path: string) => { status: number; location?: string } = () => ({ status: 200 }),
): Promise<Listener> {
  let connections = 0;
  const server = createServer((req, res) => {
    const { status, location } = answer(req.url ?? '');
    res.writeHead(status, { 'Content-Type': 'text/plain', ...(location === undefined ? {} : { Location: location }) }).end('reached');
  });
  server.on('connection', () => {
    connections += 1;
  });
  const bound = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(0, '::', () => resolve(true));
  });
  // A machine without IPv6.
  if (!bound) await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** One request through the guard alone, past all rules about schemes and ports. */
async function get(guard: AddressGuard, host: string, port: number): Promise<number> {
  const client = new Client(`http://${host}:${port}`, { connect: guard.connect });
  try {
    const answer = await client.request({ method: 'GET', path: '/' });
    await answer.body.dump();
    return answer.statusCode;
  } finally {
    await client.destroy();
  }
}

test(`LINK-7: ${HOSTS.length} hostile addresses are recognised and reach no listener`, async (t) => {
  assert.ok(HOSTS.length >= 60);
  const listener = await listen(t);
  const guard = createAddressGuard({ allowPrivate: false });
  for (const [kind, hosts] of Object.entries(HOSTILE)) {
    for (const host of hosts) {
      await assert.rejects(get(guard, host, listener.port), (error) => {
        assert.ok(error instanceof AddressRefused, `${host}: ${error}`);
        assert.ok(error.message.includes(kind), `${host} is no ${kind}: ${error.message}`);
        return true;
      });
    }
  }
  assert.equal(listener.connections(), 0);
  assert.equal(await get(createAddressGuard({ allowPrivate: true }), '127.0.0.1', listener.port), 200);
  assert.equal(listener.connections(), 1, 'the listener does listen');
});

test('LINK-3, LINK-7: a link to a hostile address is refused with a sentence that says what it is and no address', async () => {
  const guard = createAddressGuard({ allowPrivate: false });
  for (const host of HOSTS) {
    for (const scheme of ['http', 'https']) {
      await assert.rejects(fetchLink(`${scheme}://${host}/`, { guard }), (error) => {
        assert.ok(error instanceof LinkError);
        assert.match(error.message, /^The address leads to (?:a|an|the) [\w() -]+; only public addresses are connected to\.$/);
        return true;
      });
    }
  }
});

test('LINK-7: what a name resolves to is judged, in every form an address can have there', async (t) => {
  const listener = await listen(t);
  const addresses = [
    '127.0.0.1',
    '::1',
    '10.1.2.3',
    '::ffff:127.0.0.1',
    'fe80::1%lo',
    '2606:4700::1%lo',
    '64:ff9b::7f00:1',
    '0x7f.1',
    '127.1',
    '',
  ];
  for (const address of addresses) {
    const guard = createAddressGuard({ allowPrivate: false, resolve: async () => [{ address, family: address.includes(':') ? 6 : 4 }] });
    await assert.rejects(get(guard, 'site.example', listener.port), AddressRefused, address);
  }
  const nothing = createAddressGuard({ allowPrivate: false, resolve: async () => [] });
  await assert.rejects(get(nothing, 'site.example', listener.port), AddressRefused);
  await assert.rejects(get(createAddressGuard({ allowPrivate: false }), 'localhost', listener.port), AddressRefused);
  assert.equal(listener.connections(), 0);
});

interface Network {
  readonly privateSite: Listener;
  readonly publicSite: Listener;
  /** Addresses that sockets were opened to. */
  readonly opened: string[];
  readonly guard: AddressGuard;
  /** How often names were resolved. */
  readonly resolved: () => number;
}

/**
 * A network in which a public address exists: sockets to it end at a listener that stands for a public site, sockets to
 * anywhere else at one that nobody may reach. `answers` are those of the name server, one a question.
 */
async function network(
  t: TestContext,
  answers: readonly (readonly ResolvedAddress[])[],
  redirect: (path: string) => string | undefined = () => undefined,
): Promise<Network> {
  const privateSite = await listen(t);
  const publicSite = await listen(t, (path) => {
    const location = redirect(path);
    return location === undefined ? { status: 200 } : { status: 302, location };
  });
  const opened: string[] = [];
  const real = net.connect;
  const lookupOf =
    (options: net.TcpNetConnectOpts): net.LookupFunction =>
    (hostname, more, callback) => {
      options.lookup?.(hostname, { ...more, all: true }, (error, found) => {
        if (error === null) opened.push(...(found as ResolvedAddress[]).map(({ address }) => address));
        callback(error, '127.0.0.1', 4);
      });
    };
  t.mock.method(net, 'connect', (options: net.TcpNetConnectOpts) => {
    const literal = net.isIP(options.host ?? '') !== 0;
    if (literal) opened.push(options.host ?? '');
    const isPublic = () => opened.at(-1) === PUBLIC;
    if (literal) return real({ ...options, host: '127.0.0.1', port: isPublic() ? publicSite.port : privateSite.port });
    // The port has to be known before the name is: private answers must not even come out of the lookup.
    return real({ ...options, port: publicSite.port, lookup: lookupOf(options), autoSelectFamily: false });
  });
  let questions = 0;
  const resolve = async () => {
    questions += 1;
    return answers[questions - 1] ?? answers.at(-1) ?? [];
  };
  return { privateSite, publicSite, opened, guard: createAddressGuard({ allowPrivate: false, resolve }), resolved: () => questions };
}

const AT_PUBLIC: ResolvedAddress = { address: PUBLIC, family: 4 };
const AT_LOOPBACK: ResolvedAddress = { address: '127.0.0.1', family: 4 };

test('LINK-7: a name that resolves public first and private then is connected to once, where it was judged', async (t) => {
  const { guard, opened, resolved, privateSite } = await network(t, [[AT_PUBLIC], [AT_LOOPBACK]]);
  const { bytes } = await fetchLink('http://rebinding.example/', { guard });
  assert.equal(Buffer.from(bytes).toString(), 'reached');
  assert.deepEqual([opened, resolved()], [[PUBLIC], 1], 'one question, and a socket to its answer');
  await assert.rejects(fetchLink('http://rebinding.example/', { guard }), /leads to a loopback address/);
  assert.deepEqual([opened, resolved(), privateSite.connections()], [[PUBLIC], 2, 0]);
});

test('LINK-7: of a name with public and private addresses only the public ones are tried', async (t) => {
  const { guard, opened } = await network(t, [[AT_LOOPBACK, AT_PUBLIC, { address: '10.0.0.1', family: 4 }]]);
  await fetchLink('http://mixed.example/', { guard });
  assert.deepEqual(opened, [PUBLIC]);
});

test('LINK-8: every redirect is judged again', async (t) => {
  // A header holds ASCII only; a host may be escaped.
  const targets = HOSTS.map((host) => `http://${/^[ -~]+$/.test(host) ? host : encodeURI(host)}/secret`);
  const site = await network(t, [[AT_PUBLIC]], (path) => targets[Number(/^\/to\/(\d+)$/.exec(path)?.[1])]);
  for (const at of targets.keys()) {
    await assert.rejects(fetchLink(`http://${PUBLIC}/to/${at}`, { guard: site.guard }), /leads to/, targets[at]);
  }
  assert.equal(site.publicSite.connections(), targets.length);
  assert.equal(site.privateSite.connections(), 0);
});

test('LINK-8: a redirect to the same name is resolved and judged again', async (t) => {
  const site = await network(t, [[AT_PUBLIC], [AT_LOOPBACK]], (path) => (path === '/' ? '/next' : undefined));
  await assert.rejects(fetchLink('http://rebinding.example/', { guard: site.guard }), /leads to a loopback address/);
  assert.deepEqual([site.opened, site.resolved(), site.privateSite.connections()], [[PUBLIC], 2, 0]);
});

/** Spellings of one IPv4 address that the URL parser understands. */
function spellings(octets: readonly [number, number, number, number]): string[] {
  const [a, b, c, d] = octets;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const octal = (value: number) => `0${value.toString(8)}`;
  const hex = (value: number) => `0x${value.toString(16)}`;
  return [
    octets.join('.'),
    String(number),
    octal(number),
    hex(number),
    octets.map(octal).join('.'),
    octets.map(hex).join('.'),
    `${a}.${hex((b * 256 + c) * 256 + d)}`,
    `${octal(a)}.${b}.${c * 256 + d}`,
  ];
}

test('LINK-7: an IPv4 address is judged the same however it is written', () => {
  const guard = createAddressGuard({ allowPrivate: false });
  const octet = fc.integer({ min: 0, max: 255 });
  const inside = fc.tuple(fc.constantFrom([127], [10], [192, 168], [169, 254], [172, 20], [100, 70]), octet, octet, octet);
  fc.assert(
    fc.property(inside, ([prefix, ...rest]) => {
      const octets = [...prefix, ...rest].slice(0, 4) as [number, number, number, number];
      for (const spelling of spellings(octets)) {
        const { hostname } = new URL(`http://${spelling}/`);
        assert.ok(guard.refused(hostname) !== undefined, spelling);
        assert.ok(guard.refused(`::ffff:${octets.join('.')}`) !== undefined);
      }
    }),
  );
});

test('LINK-7: public addresses are connected to', () => {
  const guard = createAddressGuard({ allowPrivate: false });
  const all = [
    '1.1.1.1',
    '8.8.8.8',
    PUBLIC,
    '172.15.0.1',
    '172.32.0.1',
    '192.167.1.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::200e',
  ];
  for (const address of all) assert.equal(guard.refused(address), undefined, address);
});

test('LINK-12: loopback and private addresses are connected to, and still nothing else', () => {
  const guard = createAddressGuard({ allowPrivate: true });
  for (const address of ['127.0.0.1', '::1', '10.0.0.1', '192.168.1.1', '172.16.0.1', 'fc00::1', '8.8.8.8']) {
    assert.equal(guard.refused(address), undefined, address);
  }
  for (const address of ['169.254.169.254', 'fd00:ec2::254', '100.64.0.1', '0.0.0.0', '::', '224.0.0.1', 'fe80::1', '::ffff:127.0.0.1']) {
    assert.ok(guard.refused(address) !== undefined, address);
  }
});

test('LINK-12: a host counts as local when it is written as localhost or as such a literal', () => {
  const open = createAddressGuard({ allowPrivate: true });
  for (const host of ['localhost', '127.0.0.1', '[::1]', '10.0.0.1', '[fc00::1]']) assert.equal(open.isLocal(host), true, host);
  for (const host of ['localhost.example', 'example.com', '8.8.8.8', '[2606:4700::1]', '169.254.169.254']) {
    assert.equal(open.isLocal(host), false, host);
  }
  assert.equal(createAddressGuard({ allowPrivate: false }).isLocal('localhost'), false);
});
