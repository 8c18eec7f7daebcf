/**
 * What stands in front of object storage in tests: passes requests on, refuses them as S3 does, swallows them, or goes away, as it is told.
 * The stand-in for object storage can do none of that.
 */
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';

/**
 * `denies`: to all, as with a wrong secret. `full`: to writes only. `swallows`: takes requests and never answers. `plain`: knows no conditions of
 * writes; else it minds them, which the stand-in for object storage does not.
 */
export type Mood = 'passes' | 'denies' | 'full' | 'swallows' | 'plain';

export interface StorageFront {
  readonly endpoint: string;
  mood: Mood;
  /** Nobody listens there any more, and what was under way is cut. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

const REFUSALS = {
  denies: [403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match the signature you provided.'],
  full: [507, 'XMinioStorageFull', 'Storage backend has reached its minimum free drive threshold.'],
  plain: [501, 'NotImplemented', 'A header you provided implies functionality that is not implemented.'],
  otherwise: [412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold'],
} as const;

function refuse(answer: ServerResponse, [status, code, message]: readonly [number, string, string]): void {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  answer.writeHead(status, { 'Content-Type': 'application/xml', Connection: 'close' }).end(body);
}

/** The refusal of a write whose condition does not hold; `etags`: of what was written through here. */
function conditionOf({ headers, url = '' }: IncomingMessage, etags: ReadonlyMap<string, string>, mood: Mood) {
  const { 'if-match': is, 'if-none-match': none } = headers;
  if (is === undefined && none === undefined) return undefined;
  if (mood === 'plain') return REFUSALS.plain;
  return (none === undefined ? etags.get(url) === is : !etags.has(url)) ? undefined : REFUSALS.otherwise;
}

function passOn(asked: IncomingMessage, answer: ServerResponse, behind: URL, onSaid: (said: IncomingMessage) => void): void {
  const { method, headers, url: path } = asked;
  const passed = httpRequest({ host: behind.hostname, port: behind.port, method, path, headers }, (said) => {
    onSaid(said);
    answer.writeHead(said.statusCode ?? 502, said.headers);
    said.pipe(answer);
  });
  passed.on('error', () => answer.destroy());
  answer.on('close', () => passed.destroy());
  asked.pipe(passed);
}

/** `behind`: the endpoint that it passes requests on to. */
export async function startStorageFront(t: TestContext, behind: string): Promise<StorageFront> {
  const sockets = new Set<Socket>();
  const etags = new Map<string, string>();
  const busy = new Map<string, Promise<unknown>>();
  const server = createServer(async (asked, answer) => {
    const { url = '' } = asked;
    // One at a time: the stand-in shows the tag of what is being written with what was there before, and never ends what is cut while it is read.
    while (busy.has(url)) await busy.get(url);
    if (answer.destroyed) return;
    const { mood } = front;
    const isWrite = asked.method === 'PUT' || asked.method === 'POST';
    const condition = asked.method === 'PUT' ? conditionOf(asked, etags, mood) : undefined;
    if (condition !== undefined) asked.resume().on('end', () => refuse(answer, condition));
    else if (mood === 'swallows') asked.resume();
    else if (mood === 'denies' || (mood === 'full' && isWrite)) asked.resume().on('end', () => refuse(answer, REFUSALS[mood]));
    else {
      const done = once(answer, 'close').finally(() => busy.delete(url));
      busy.set(url, done);
      if (asked.method === 'DELETE') etags.delete(url);
      passOn(asked, answer, new URL(behind), ({ headers }) => asked.method === 'PUT' && etags.set(url, String(headers.etag)));
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const goAway = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const front: StorageFront = {
    endpoint: `http://127.0.0.1:${port}`,
    mood: 'passes',
    goAway,
    async comeBack() {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
  };
  t.after(goAway);
  return front;
}
