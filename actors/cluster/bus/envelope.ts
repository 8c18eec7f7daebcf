/**
 * What travels through Redis between nodes: several messages packed and sealed as one envelope (CLUSTER-17).
 * On the wire: the length of the sender's id (2 bytes), the id, and the sealed bytes. The purpose of the seal names cell, addressee
 * and sender, so an envelope opens nowhere but where it was meant to go and cannot be passed off as another's.
 */

import { Packr } from 'msgpackr';
import type { PlainRefusal } from '../../../protocol/errors.ts';
import type { Vault } from '../../../storage/files/vault.ts';

/** Addressee of what every node of the cell is told. No node has this id. */
export const EVERYONE = '*';

/** In front of the sender's id. */
const LENGTH_BYTES = 2;
/** Raised when envelopes change so that an earlier program would misread them: it then drops them, as if they were lost. */
const VERSION = 1;

export type Message =
  | readonly ['tell', kind: string, body: unknown]
  | readonly ['announce', kind: string, body: unknown]
  /** After `expiresAtMs` the asker has given up. */
  | readonly ['ask', id: number, kind: string, body: unknown, expiresAtMs: number]
  | readonly ['answer', id: number, body: unknown]
  | readonly ['refused', id: number, refusal: PlainRefusal]
  /** The handler failed, or there is none. */
  | readonly ['failed', id: number];

export interface EnvelopeHeader {
  /** Rises with every envelope of this sender, whoever it is for. */
  readonly number: number;
  /** Number of the sender's last envelope to the same addressee; 0: there was none, or it is forgotten. */
  readonly previous: number;
  /** When it was sealed, ms since 1970. Nodes of a cell are on one host and read the same clock. */
  readonly sealedAtMs: number;
}

export interface Envelope extends EnvelopeHeader {
  readonly messages: readonly Message[];
}

/** Who talks to whom. */
export interface Route {
  readonly cell: string | null;
  /** A node's id, or `EVERYONE`. */
  readonly addressee: string;
  readonly sender: string;
}

// Records would make each envelope depend on earlier ones; plain maps do not.
const packr = new Packr({ useRecords: false, variableMapSize: true });

/** As JSON, so that no two routes come to the same text. */
function purposeOf({ cell, addressee, sender }: Route): string {
  return `bus ${JSON.stringify([cell, addressee, sender])}`;
}

/** Redis channel of an addressee. */
export function channelOf(cell: string | null, addressee: string): string {
  return `assistant:bus:${cell ?? ''}:${addressee}`;
}

/** Packed as of now: changing the body later changes nothing. @throws Error for a body that holds functions or goes in circles. */
export function packMessage(message: Message): Buffer {
  return packr.pack(message);
}

/** `messages` as `packMessage` made them. */
export function sealEnvelope(
  vault: Pick<Vault, 'seal'>,
  route: Route,
  { number, previous, sealedAtMs }: EnvelopeHeader,
  messages: readonly Uint8Array[],
): Buffer {
  const sender = Buffer.from(route.sender);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(sender.length);
  const plain = Buffer.concat([packr.pack([VERSION, number, previous, sealedAtMs]), ...messages]);
  return Buffer.concat([length, sender, vault.seal(purposeOf(route), plain)]);
}

/** Who says to have sent it; whether that is so shows when it opens. Null when it is no envelope. */
export function senderOf(wire: Buffer): string | null {
  if (wire.length < LENGTH_BYTES) return null;
  const end = LENGTH_BYTES + wire.readUInt16BE(0);
  return wire.length <= end ? null : wire.toString('utf8', LENGTH_BYTES, end);
}

/** @throws Error when it was not sealed for this route by a node with the same master key, or not by this version. */
export function openEnvelope(vault: Pick<Vault, 'open'>, route: Route, wire: Buffer): Envelope {
  const plain = vault.open(purposeOf(route), wire.subarray(LENGTH_BYTES + wire.readUInt16BE(0)));
  const [header, ...messages] = packr.unpackMultiple(plain) as [readonly number[], ...Message[]];
  const [version, number, previous, sealedAtMs] = header;
  if (version !== VERSION || number === undefined || previous === undefined || sealedAtMs === undefined) {
    throw new Error(`An envelope of version ${version}, where ${VERSION} is understood.`);
  }
  return { number, previous, sealedAtMs, messages };
}
