/**
 * What travels through Redis between nodes: several announcements packed and sealed as one envelope (CLUSTER-17).
 * On the wire: the length of the sender's id (2 bytes), the id, and the sealed bytes. The purpose of the seal names cell and sender, so an
 * envelope opens in no other cell and cannot be passed off as another's.
 */

import { Packr } from 'msgpackr';
import type { Vault } from '../../../storage/secrets/vault.ts';

/** In front of the sender's id. */
const LENGTH_BYTES = 2;
/** Raised when envelopes change so that an earlier program would misread them: it then drops them, as if they were lost. */
const VERSION = 2;

/** One announcement. */
export type Message = readonly [kind: string, body: unknown];

export interface EnvelopeHeader {
  /** Rises by one with every envelope of this sender. */
  readonly number: number;
  /** When it was sealed, ms since 1970. Nodes of a cell are on one host and read the same clock. */
  readonly sealedAtMs: number;
}

export interface Envelope extends EnvelopeHeader {
  readonly messages: readonly Message[];
}

/** Who speaks, and in which cell. */
export interface Route {
  readonly cell: string | null;
  readonly sender: string;
}

// Records would make each envelope depend on earlier ones; plain maps do not.
const packr = new Packr({ useRecords: false, variableMapSize: true });

/** As JSON, so that no two routes come to the same text. */
function purposeOf({ cell, sender }: Route): string {
  return `bus ${JSON.stringify([cell, sender])}`;
}

/** Redis channel of a cell. */
export function channelOf(cell: string | null): string {
  return `assistant:bus:${cell ?? ''}`;
}

/** Packed as of now: changing the body later changes nothing. @throws Error for a body that holds functions or goes in circles. */
export function packMessage(message: Message): Buffer {
  return packr.pack(message);
}

/** `messages` as `packMessage` made them. */
export function sealEnvelope(
  vault: Pick<Vault, 'seal'>,
  route: Route,
  { number, sealedAtMs }: EnvelopeHeader,
  messages: readonly Uint8Array[],
): Buffer {
  const sender = Buffer.from(route.sender);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(sender.length);
  const plain = Buffer.concat([packr.pack([VERSION, number, sealedAtMs]), ...messages]);
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
  const [version, number, sealedAtMs] = header;
  if (version !== VERSION || number === undefined || sealedAtMs === undefined) {
    throw new Error(`An envelope of version ${version}, where ${VERSION} is understood.`);
  }
  return { number, sealedAtMs, messages };
}
