/**
 * The sending side of a move between cells (CELL-8): the requests to the other cell, and files in pieces. Everything may be sent again: the other
 * cell keeps what it has.
 */
import { open } from 'node:fs/promises';
import * as v from 'valibot';
import type { DataLayout } from '../../storage/data-layout.ts';
import { SCHEMA_VERSIONS } from '../../storage/moving/move-copy.ts';
import type { MoveFiles } from '../../storage/moving/move-files.ts';
import type { Content } from '../../storage/moving/move-folders.ts';
import type { CopyRecord, MoveRow } from '../../storage/moving/moves.ts';
import type { Vault } from '../../storage/secrets/vault.ts';
import type { CellAnswer, CellClient } from './cell-client.ts';

/** A piece of a file: both cells hold it in memory as a whole. */
export const PIECE_MAX_BYTES = 4 * 1024 * 1024;
/** Files asked about in one question: some 10 KB of digests. */
export const CONTENTS_PER_QUESTION_MAX = 100;
/** A question is a few rows and files. */
const QUESTION_TIMEOUT_MS = 10_000;
/** A piece is written to disk, the last one of a large file after all of it was read. */
const PIECE_TIMEOUT_MS = 120_000;
/** A large file is read and copied before this is answered. If it is asked again meanwhile, the other cell answers that it is still working. */
const ADOPT_TIMEOUT_MS = 600_000;

/** The other cell refuses the organisation: asking again does not help. */
export class MoveRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MoveRefused';
  }
}

/** A file to send: what it holds, and where it lies here. */
interface Sent extends Content {
  readonly path: string;
}

export interface MoveSenderServices {
  readonly client: Pick<CellClient, 'call'>;
  readonly files: Pick<MoveFiles, 'listCopy' | 'copyPath'>;
  readonly layout: DataLayout;
  readonly vault: Pick<Vault, 'digest'>;
  /** This cell. */
  readonly cell: string;
}

/** How far the move is on the other cell. */
const stepAnswer = v.object({ step: v.picklist(['receiving', 'adopted', 'unsealed', 'discarded']) });
const missingAnswer = v.object({ missing: v.array(v.string()) });
const refusalAnswer = v.object({ error: v.object({ code: v.string(), message: v.string() }) });

/** Equal checks prove that two cells have the same master key, so that each can open what the other has sealed. */
export function keyCheck(vault: Pick<Vault, 'digest'>, moveId: string): string {
  return vault.digest('move', Buffer.from(moveId)).toString('base64url');
}

/** One file as the other cell's routes take it. */
function multipart(bytes: Uint8Array): { body: Buffer; contentType: string } {
  // Random hex digits, so that no file holds the boundary by chance.
  const boundary = `piece-${Date.now().toString(16)}-${Math.random().toString(16).slice(2)}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="piece"; filename="piece"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}

export class MoveSender {
  readonly #services: MoveSenderServices;

  constructor(services: MoveSenderServices) {
    this.#services = services;
  }

  /** Asks whether the organisation may come; returns how far the move is. @throws MoveRefused; Error when the other cell cannot be asked now. */
  async offer(move: MoveRow): Promise<v.InferOutput<typeof stepAnswer>['step']> {
    const { cell, vault } = this.#services;
    const body = { move_id: move.moveId, source_cell: cell, key_check: keyCheck(vault, move.moveId), schema: SCHEMA_VERSIONS };
    return this.#step(await this.#call(move, 'POST', '', body, QUESTION_TIMEOUT_MS));
  }

  /** Sends those of the files that the other cell lacks. One that is gone from here is left out. */
  async #send(move: MoveRow, files: readonly Sent[]): Promise<void> {
    for (let at = 0; at < files.length; at += CONTENTS_PER_QUESTION_MAX) {
      const asked = files.slice(at, at + CONTENTS_PER_QUESTION_MAX);
      const contents = asked.map(({ sha256, size }) => ({ sha256, size }));
      const answer = await this.#call(move, 'POST', '/missing', { move_id: move.moveId, contents }, QUESTION_TIMEOUT_MS);
      const missing = new Set(v.parse(missingAnswer, answer.json).missing);
      for (const file of asked) if (missing.has(file.sha256)) await this.#sendFile(move, file);
    }
  }

  /** Brings everything over, in place and under its seal. @throws MoveRefused; Error when it can be tried again. */
  async ship(move: MoveRow, { manifest: sha256 }: CopyRecord): Promise<void> {
    const { files, layout } = this.#services;
    const step = await this.offer(move);
    if (step === 'adopted' || step === 'unsealed') return;
    const manifest = await files.listCopy({ ...move, manifest: sha256 });
    const manifestPath = files.copyPath(move, { sha256 });
    await this.#send(move, [
      { ...manifest.database, path: files.copyPath(move, manifest.database) },
      ...manifest.uploads.map((upload) => ({ ...upload, path: layout.upload(move.organisationId, upload.id) })),
      { sha256, size: await sizeOf(manifestPath), path: manifestPath },
    ]);
    const answer = await this.#call(move, 'POST', '/adopt', { move_id: move.moveId, manifest: sha256 }, ADOPT_TIMEOUT_MS);
    const after = this.#step(answer);
    if (after !== 'adopted' && after !== 'unsealed') throw new Error(`cell ${move.targetCell} says ${after} instead of adopted`);
  }

  /** To be asked for only when the map names the other cell. */
  async unseal(move: MoveRow): Promise<void> {
    const answer = await this.#call(move, 'POST', '/unseal', { move_id: move.moveId }, QUESTION_TIMEOUT_MS);
    const step = this.#step(answer);
    if (step !== 'unsealed') throw new Error(`cell ${move.targetCell} says ${step} instead of unsealed`);
  }

  /** Call it only when the move was aborted. */
  async discard(move: MoveRow): Promise<void> {
    await this.#call(move, 'POST', '/discard', { move_id: move.moveId }, QUESTION_TIMEOUT_MS);
  }

  async #sendFile(move: MoveRow, { sha256, size, path }: Sent): Promise<void> {
    const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (file === undefined) return;
    try {
      const buffer = Buffer.allocUnsafe(Math.min(size, PIECE_MAX_BYTES));
      for (let offset = 0; offset < size; ) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - offset), offset);
        if (bytesRead === 0) throw new Error(`${path} is shorter than it was`);
        await this.#sendPiece(move, { sha256, size }, offset, buffer.subarray(0, bytesRead));
        offset += bytesRead;
      }
    } finally {
      await file.close();
    }
  }

  async #sendPiece(move: MoveRow, { sha256, size }: Content, offset: number, bytes: Uint8Array): Promise<void> {
    const { body, contentType } = multipart(bytes);
    const query = new URLSearchParams({ move_id: move.moveId, size: String(size), offset: String(offset) });
    await this.#call(move, 'PUT', `/files/${sha256}?${query}`, body, PIECE_TIMEOUT_MS, { 'Content-Type': contentType });
  }

  #step({ json }: CellAnswer): v.InferOutput<typeof stepAnswer>['step'] {
    return v.parse(stepAnswer, json).step;
  }

  /** @throws MoveRefused for what will be answered again; Error for what may be mended; CellUnreachable. */
  async #call(
    move: MoveRow,
    method: string,
    path: string,
    body: Buffer | object,
    timeoutMs: number,
    headers: Record<string, string> = {},
  ): Promise<CellAnswer> {
    const { organisationId, targetCell } = move;
    const answer = await this.#services.client.call(targetCell, method, `/cell/v1/arrivals/${organisationId}${path}`, body, {
      timeoutMs,
      headers,
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    const said = v.safeParse(refusalAnswer, answer.json);
    const message = said.success ? said.output.error.message : `cell ${targetCell} answered ${answer.status}`;
    if (answer.status === 401 || answer.status === 403)
      throw new MoveRefused(`Cell ${targetCell} does not know this one as a cell: ${message}`);
    if (answer.status === 409 || answer.status === 404) throw new MoveRefused(message);
    throw new Error(message);
  }
}

async function sizeOf(path: string): Promise<number> {
  const file = await open(path, 'r');
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}
