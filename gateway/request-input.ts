/** What a route's handler gets: a request whose caller was let in, with what was read of its body. Made in one step, when both are known. */
import type { Exchange } from './http/exchange.ts';
import type { Admitted, Callers, RouteInput, UploadedFile } from './route.ts';

export type Brought = { readonly body: unknown; readonly upload: null } | { readonly body: null; readonly upload: UploadedFile };

export const NOTHING_BROUGHT: Brought = { body: null, upload: null };

/** The rest is asked of the exchange when a handler wants it: most want little. */
export class RequestInput implements RouteInput<unknown, Callers[Admitted['kind']], UploadedFile | null> {
  readonly caller: Admitted['caller'];
  readonly body: unknown;
  readonly upload: UploadedFile | null;
  readonly requestId: string;
  readonly header: (name: string) => string;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, { caller }: Admitted, { body, upload }: Brought) {
    this.#exchange = exchange;
    this.caller = caller;
    this.body = body;
    this.upload = upload;
    this.requestId = exchange.requestId;
    this.header = exchange.header;
  }

  get params(): Readonly<Record<string, string>> {
    return this.#exchange.params;
  }

  get query(): URLSearchParams {
    return this.#exchange.query;
  }

  get isHead(): boolean {
    return this.#exchange.method === 'HEAD';
  }

  get clientAddress(): string {
    return this.#exchange.clientAddress;
  }

  get address(): string {
    return this.#exchange.address;
  }
}
