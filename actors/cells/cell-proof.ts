/**
 * How cells prove to each other who they are (CELL-5): a request carries a MAC over where it goes, what it asks and who its client is, with the
 * time and a nonce, under a key that is made from the master key; its answer carries one over the request's. What is seen on the way is of
 * no use at another cell, on another path, later, or twice at one process. It hides nothing: for that there is https.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isSecret, type Vault } from '../../storage/secrets/vault.ts';

/** What a cell says with a request: in the order in which it is signed. */
export interface CellStatement {
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly target: string;
  readonly from: string;
  readonly to: string;
  /** Whose request is passed on; '' for a question of the cell itself. */
  readonly organisationId: string;
  readonly clientAddress: string;
  readonly clientHost: string;
  /** OPERATOR: the cell has checked that the client is one, whose token stays there. */
  readonly vouchedFor: string;
}

export const OPERATOR = 'operator';

/** How far two hosts' clocks may differ. */
const CLOCKS_MAX_MS = 30_000;
/** What 3,000 requests a second leave within a minute, 10 MB: more, and the oldest could come twice. */
const SEEN_MAX = 200_000;
/** Looked at for each that comes, so that there are never more than came in a minute. */
const FORGOTTEN_AT_ONCE = 2;
const TOKEN = /^(\d{13,16})\.([\w-]{16})\.[\w-]{43}$/;

export type ProofFault = 'forged' | 'late' | 'repeated';

export const UNPROVEN = 'what answered did not prove that it is a cell of this installation: do all cells have the same MASTER_KEY?';

export class CellProofs {
  readonly #vault: Pick<Vault, 'digest'>;
  readonly #nowMs: () => number;
  /** When each came, the oldest first. */
  readonly #seen = new Map<string, number>();

  constructor(vault: Pick<Vault, 'digest'>, nowMs: () => number) {
    this.#vault = vault;
    this.#nowMs = nowMs;
  }

  /** What proves the request, once. */
  sign(statement: CellStatement): string {
    const start = `${this.#nowMs()}.${randomBytes(12).toString('base64url')}`;
    return `${start}.${this.#mac(start, statement)}`;
  }

  /** What is wrong with the proof; undefined: nothing, and it is of no use any more. */
  fault(token: string, statement: CellStatement): ProofFault | undefined {
    const [, at = '', nonce = ''] = TOKEN.exec(token) ?? [];
    const start = `${at}.${nonce}`;
    if (!isSecret(token, `${start}.${this.#mac(start, statement)}`)) return 'forged';
    const nowMs = this.#nowMs();
    if (Math.abs(nowMs - Number(at)) > CLOCKS_MAX_MS) return 'late';
    if (this.#seen.has(nonce)) return 'repeated';
    this.#forget(nowMs);
    this.#seen.set(nonce, nowMs);
    return undefined;
  }

  /** Those that would be late by now, by the furthest clock, and the oldest beyond the bound. */
  #forget(nowMs: number): void {
    let left = FORGOTTEN_AT_ONCE;
    for (const [nonce, atMs] of this.#seen) {
      if (left-- === 0 || (this.#seen.size < SEEN_MAX && Math.abs(nowMs - atMs) <= 2 * CLOCKS_MAX_MS)) return;
      this.#seen.delete(nonce);
    }
  }

  /** What proves the answer to the request that came with this token: its status, and what it says of where the organisation is. */
  answer(token: string, status: number, miss = ''): string {
    return this.#vault.digest('cell answer', Buffer.from(JSON.stringify([token, status, miss]))).toString('base64url');
  }

  /** Whether an answer is proven by its headers; `token`: of the request. */
  proves({ statusCode = 0, headers }: Pick<IncomingMessage, 'statusCode' | 'headers'>, token: unknown): boolean {
    const { [CELL_HEADERS.proof]: proof, [CELL_HEADERS.miss]: miss = '' } = headers;
    return typeof proof === 'string' && typeof token === 'string' && isSecret(proof, this.answer(token, statusCode, String(miss)));
  }

  #mac(start: string, { method, target, from, to, organisationId, clientAddress, clientHost, vouchedFor }: CellStatement): string {
    const words = [start, method, target, from, to, organisationId, clientAddress, clientHost, vouchedFor];
    return this.#vault.digest('cell request', Buffer.from(JSON.stringify(words))).toString('base64url');
  }
}

/** Headers from cell to cell. A client's own are never passed on. */
export const CELL_HEADERS = {
  /** Makes the others trusted. Not `Authorization`, which is the client's own. */
  token: 'x-service-cell-token',
  /** `<from> <to>`: which cell sends the request, and to which one it means to. */
  relay: 'x-service-cell-relay',
  organisation: 'x-service-cell-organisation',
  clientAddress: 'x-service-cell-client',
  clientHost: 'x-service-cell-host',
  vouchedFor: 'x-service-cell-vouched',
  /** In an answer: the organisation is not here. `<cell> <version>` of where it is, or `-`. */
  miss: 'x-service-cell-miss',
  /** In an answer: it comes from a cell. */
  proof: 'x-service-cell-proof',
} as const;

export const CELL_HEADER_PREFIX = 'x-service-cell';

/** The statement's words as headers, with their proof. Method and target are the request's own. */
export function statementHeaders(statement: CellStatement, proofs: CellProofs): Record<string, string> {
  const { from, to, organisationId, clientAddress, clientHost, vouchedFor } = statement;
  return {
    [CELL_HEADERS.token]: proofs.sign(statement),
    [CELL_HEADERS.relay]: `${from} ${to}`,
    [CELL_HEADERS.organisation]: organisationId,
    [CELL_HEADERS.clientAddress]: clientAddress,
    [CELL_HEADERS.clientHost]: clientHost,
    [CELL_HEADERS.vouchedFor]: vouchedFor,
  };
}

/** The statement that a request makes, proven or not. */
export function statementOf(method: string, target: string, header: (name: string) => string): CellStatement {
  const [from = '', to = ''] = header(CELL_HEADERS.relay).split(' ');
  const [organisationId, clientAddress] = [header(CELL_HEADERS.organisation), header(CELL_HEADERS.clientAddress)];
  const [clientHost, vouchedFor] = [header(CELL_HEADERS.clientHost), header(CELL_HEADERS.vouchedFor)];
  return { method, target, from, to, organisationId, clientAddress, clientHost, vouchedFor };
}
