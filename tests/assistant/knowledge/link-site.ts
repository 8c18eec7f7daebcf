/** A web site of the test's own on loopback, and a guard that may reach it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { type AddressGuard, createAddressGuard } from '../../../assistant/http/address-guard.ts';
import { serveFake } from '../../support/fake-server.ts';

export type Pages = (req: IncomingMessage, res: ServerResponse) => void;

export interface LinkSite {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  /** Sockets that are open at the moment. */
  openSockets(): Promise<number>;
}

export const OPEN_GUARD: AddressGuard = createAddressGuard({ allowPrivate: true });

export async function startSite(t: TestContext, pages: Pages): Promise<LinkSite> {
  const requests: IncomingMessage[] = [];
  const { server, url, close } = await serveFake((req, res) => {
    requests.push(req);
    pages(req, res);
  });
  t.after(close);
  return {
    url: url(),
    requests,
    openSockets: () => new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count)))),
  };
}

/** Answers with a whole document. */
export function reply(res: ServerResponse, type: string, body: string | Buffer, headers: Record<string, string> = {}): void {
  res.writeHead(200, { 'Content-Type': type, ...headers }).end(body);
}
