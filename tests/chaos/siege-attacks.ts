/** The attacks of a siege: each is what somebody with an app's publishable key can send, as fast as it is taken. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { png, pngChunk } from '../assistant/images/image-bytes.ts';
import { jsonBomb, PDF_BOMBS } from '../assistant/parsers/bombs.ts';
import { HANDSHAKE } from '../support/client.ts';

/** What the stranger knows. */
export interface AttackOrder {
  readonly attack: string;
  readonly baseUrl: string;
  readonly key: string;
  /** The token of a setup session of the same app: an agent that was led astray. */
  readonly setupToken: string;
  readonly forMs: number;
  /** `127.0.n.1` and so on: other attacks were counted under theirs. */
  readonly network: number;
}

export interface Sent {
  readonly status: number;
  readonly text: string;
}

/** What attacks are made of. */
export interface Stranger extends AttackOrder {
  readonly untilMs: number;
  /** Sends one request from one of the stranger's addresses and counts how it ended. */
  send(method: string, path: string, body: Buffer | string | null, headers?: Readonly<Record<string, string>>): Promise<Sent | undefined>;
  /** Does the work over and over, so many at a time, until the time is over. */
  keep(atOnce: number, work: (round: number) => Promise<unknown>): Promise<void>;
  /** A connection that is read, or not, by the attack itself. */
  open(): Socket;
  count(answer: string): void;
}

const MB = 1024 * 1024;
const PICTURE_BYTES = 20 * MB - 1_024;
const PICTURES_PER_TURN = 4;
const STALLED_READERS = 200;
const SLOW_UPLOADS = 8;
const BYTE_EVERY_MS = 500;
/** A reader for which nothing waits after all. */
const SILENT_MS = 500;
const SETUP_KEYS = 130_000;
/** Asks the model of a siege for an answer that does not end by itself. */
export const LONG_ANSWER = 'Talk on and on.';

const device = () => randomUUID().replaceAll('-', '');

function runtimeHeaders({ key }: Stranger, deviceId = device()): Record<string, string> {
  return { 'X-Service-Key': key, 'X-Service-Device': deviceId, 'Content-Type': 'application/json' };
}

function chatBody(more: object): string {
  return JSON.stringify({ turn_id: randomUUID(), client: HANDSHAKE, message: { text: 'Hello?' }, ...more });
}

/** `deviceId`'s file with this content: the id of the upload, '' when it was refused. */
async function upload(stranger: Stranger, deviceId: string, content: Uint8Array, name: string): Promise<string> {
  const boundary = randomUUID();
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const headers = { ...runtimeHeaders(stranger, deviceId), 'Content-Type': `multipart/form-data; boundary=${boundary}` };
  const answer = await stranger.send('POST', '/v1/uploads', body, headers);
  return /"upload_id":"([^"]+)"/.exec(answer?.text ?? '')?.[1] ?? '';
}

/** A name of 8 KB that expressions used to search over and over, once for each value. */
function longLabel(stranger: Stranger): Promise<void> {
  const state = { [` order${'#'.repeat(4_300)}x`]: Array.from({ length: 380 }, (_, index) => 1_000_000 + index) };
  return stranger.keep(8, () => stranger.send('POST', '/v1/chat', chatBody({ context: { app_state: state } }), runtimeHeaders(stranger)));
}

async function documents(stranger: Stranger): Promise<void> {
  const bombs = [...Object.values(PDF_BOMBS).map((make) => make()), jsonBomb()];
  await stranger.keep(8, async (round) => {
    const deviceId = device();
    const at = round % bombs.length;
    const id = await upload(stranger, deviceId, bombs[at] as Uint8Array, at === bombs.length - 1 ? 'a.json' : 'a.pdf');
    if (id === '') return pause(20);
    const message = { text: 'Read it.', attachments: [{ upload_id: id }] };
    return stranger.send('POST', '/v1/chat', chatBody({ message }), runtimeHeaders(stranger, deviceId));
  });
}

async function pictures(stranger: Stranger): Promise<void> {
  const picture = png(2_000, 2_000, [pngChunk('tEXt', randomBytes(PICTURE_BYTES - 200))]);
  await stranger.keep(4, async () => {
    const deviceId = device();
    const ids: string[] = [];
    for (let n = 0; n < PICTURES_PER_TURN; n++) ids.push(await upload(stranger, deviceId, picture, 'a.png'));
    const attachments = ids.filter((id) => id !== '').map((upload_id) => ({ upload_id }));
    if (attachments.length === 0) return pause(20);
    const message = { text: 'Look.', attachments };
    // The same pictures in every turn are loaded again each time.
    return stranger.send('POST', '/v1/chat', chatBody({ message }), runtimeHeaders(stranger, deviceId));
  });
}

function manifests(stranger: Stranger): Promise<void> {
  return stranger.keep(16, () => {
    const manifest = { version: randomUUID(), actions: [{ name: 'find_order', description: 'Finds an order.' }] };
    return stranger.send('POST', '/v1/apps/manifest', JSON.stringify({ manifest, sdk: 'web/0.27.0' }), runtimeHeaders(stranger));
  });
}

function uploads(stranger: Stranger): Promise<void> {
  const content = png(2_000, 2_000, [pngChunk('tEXt', randomBytes(8 * MB))]);
  return stranger.keep(8, () => upload(stranger, device(), content, 'a.png'));
}

/** Eight uploads that send a byte now and then; one client that has a small file to upload tries all the while. */
async function slowUploads(stranger: Stranger): Promise<void> {
  const sockets = Array.from({ length: SLOW_UPLOADS }, () => stranger.open());
  const begin = (socket: Socket) => {
    const head = [
      'POST /v1/uploads HTTP/1.1',
      'Host: service',
      `X-Service-Key: ${stranger.key}`,
      `X-Service-Device: ${device()}`,
      'Content-Type: multipart/form-data; boundary=b',
      `Content-Length: ${10 * MB}`,
    ];
    const opening = `${head.join('\r\n')}\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
    socket.once('data', (chunk) => stranger.count(`slow: ${/ (\d+) /.exec(String(chunk))?.[1]}`));
    return new Promise((resolve) => socket.write(opening, resolve));
  };
  await Promise.all(sockets.map(begin));
  await stranger.keep(1, async () => {
    for (const socket of sockets) if (socket.writable) socket.write('x');
    const id = await upload(stranger, device(), Buffer.from('words'), 'a.txt');
    stranger.count(id === '' ? 'small file refused' : 'small file taken');
    await pause(BYTE_EVERY_MS);
  });
  for (const socket of sockets) socket.destroy();
}

function setupBodies(stranger: Stranger): Promise<void> {
  const body = `{${Array.from({ length: SETUP_KEYS }, (_, at) => `"unknown${at}":1`).join()}}`;
  const headers = { Authorization: `Bearer ${stranger.setupToken}`, 'Content-Type': 'application/json' };
  const paths = ['experience', 'appearance'];
  return stranger.keep(8, (round) => stranger.send('PUT', `/setup/${paths[round % paths.length]}`, body, headers));
}

function mintedDevices(stranger: Stranger): Promise<void> {
  return stranger.keep(64, () => stranger.send('POST', '/v1/chat', chatBody({}), runtimeHeaders(stranger)));
}

function wrongBearers(stranger: Stranger): Promise<void> {
  const paths = ['/console/api/orgs', '/setup/context', '/console/api/nodes'];
  return stranger.keep(32, (round) =>
    stranger.send('GET', paths[round % paths.length] as string, null, { Authorization: `Bearer rd_st_${randomBytes(12).toString('hex')}` }),
  );
}

async function stoppedReaders(stranger: Stranger): Promise<void> {
  const sockets = Array.from({ length: STALLED_READERS }, () => {
    const socket = stranger.open();
    socket.pause();
    const body = chatBody({ message: { text: LONG_ANSWER } });
    const headers = Object.entries({ ...runtimeHeaders(stranger), 'Content-Length': String(Buffer.byteLength(body)) });
    socket.write(`POST /v1/chat HTTP/1.1\r\nHost: service\r\n${headers.map((header) => header.join(': ')).join('\r\n')}\r\n\r\n${body}`);
    return socket;
  });
  await pause(Math.max(0, stranger.untilMs - performance.now()));
  const readHead = (socket: Socket) =>
    new Promise<void>((resolve) => {
      if (socket.closed) return resolve();
      socket.once('data', (head: Buffer) => {
        stranger.count(`begun: ${/ (\d+) /.exec(head.subarray(0, 20).toString())?.[1]}`);
        socket.destroy();
      });
      socket.once('close', () => resolve());
      socket.setTimeout(SILENT_MS, () => socket.destroy());
      socket.resume();
    });
  await Promise.all(sockets.map(readHead));
}

/** By name, in the order of a siege. */
export const ATTACKS: Readonly<Record<string, (stranger: Stranger) => Promise<void>>> = {
  'chats with a long label': longLabel,
  'documents that unfold': documents,
  'four pictures of 20 MB a turn': pictures,
  'floods of manifests': manifests,
  'floods of uploads': uploads,
  'eight slow uploads': slowUploads,
  'setup bodies of 130,000 keys': setupBodies,
  'chats of minted devices': mintedDevices,
  'wrong bearers': wrongBearers,
  'readers that stop': stoppedReaders,
};
