/**
 * The receiving side of a move between cells (CELL-13): accepts the move, stores what the other cell sends, puts the organisation in place under
 * its seal, and removes the seal when the other cell says that the map names this one. It decides none of that: the sending cell does,
 * and this side refuses what does not fit its rows. Its rows call a move to this cell an arrival.
 *
 * Invariant: nothing is unsealed here unless the sending cell asks for it.
 */
import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { Refusal } from '../../protocol/errors.ts';
import { type ArrivalRow, type ArrivalStep, discardedArrivals, readArrival } from '../../storage/moving/arrivals.ts';
import { type MoveRef, SCHEMA_VERSIONS } from '../../storage/moving/move-copy.ts';
import type { MoveFiles } from '../../storage/moving/move-files.ts';
import { placementVersionOf } from '../../storage/moving/moves.ts';
import { readSeal } from '../../storage/moving/seal.ts';
import type { Storage } from '../../storage/storage.ts';

export interface MoveReceiverOptions {
  readonly storage: Pick<Storage, 'control' | 'layout' | 'organisation' | 'write' | 'writeControl'>;
  readonly files: MoveFiles;
  readonly cell: string;
  readonly log: Logger;
  nowMs(): number;
  /** Called when the organisation is served here: the listener tells the other cells and checks what is due. */
  onArrived(organisationId: string): void;
}

export interface Offer extends MoveRef {
  readonly sourceCell: string;
  readonly schema: { readonly control: number; readonly organisation: number };
}

const BUSY_RETRY_AFTER_S = 1;

export class MoveReceiver {
  readonly #options: MoveReceiverOptions;

  constructor(options: MoveReceiverOptions) {
    this.#options = options;
  }

  /** Removes what a crash has left of aborted moves. Never throws. */
  async resume(): Promise<void> {
    for (const row of discardedArrivals(this.#options.storage.control)) await this.#empty(row);
  }

  read(organisationId: string): ArrivalRow | undefined {
    return readArrival(this.#options.storage.control, organisationId);
  }

  /**
   * Accepts the move, or returns how far it is. Idempotent.
   * @throws Refusal conflict when this cell refuses it; internal (503) when it may be accepted in a moment.
   */
  async offer({ organisationId, moveId, sourceCell, schema }: Offer): Promise<ArrivalStep> {
    const { storage, cell, files, nowMs } = this.#options;
    if (schema.control !== SCHEMA_VERSIONS.control || schema.organisation !== SCHEMA_VERSIONS.organisation) {
      throw new Refusal('conflict', `Cell ${cell} runs another version of the service. Bring both cells to the same one first.`);
    }
    const before = this.read(organisationId);
    if (before?.moveId !== moveId) this.#refuseUnsealed(organisationId);
    const step = await storage.writeControl('offerArrival', { organisationId, moveId, sourceCell, cell, nowMs: nowMs() });
    if (before !== undefined && before.moveId !== moveId) await files.clear('arriving', before);
    return step;
  }

  /**
   * Takes what the other cell sends, verifies it and puts it in place under its seal. Idempotent: what is there is not read again. The
   * stream of another driver of the same move is taken beside this one, but not while what came is put in place.
   * @throws Refusal
   */
  async adopt(ref: MoveRef, stream: AsyncIterable<Buffer>): Promise<ArrivalStep> {
    const { storage, files, log, nowMs } = this.#options;
    const { step } = this.#require(ref);
    if (step !== 'receiving') return step;
    if (files.isPlacing(ref.moveId))
      throw new Refusal('internal', 'The organisation is being put in place. Ask again.', { status: 503, retryAfterS: BUSY_RETRY_AFTER_S });
    const rows = await files.place(ref, stream);
    const seal = readSeal(storage.organisation(ref.organisationId));
    if (seal?.moveId !== ref.moveId) throw new Error(`the file of ${ref.organisationId} is not the one that came`);
    if (!(await storage.writeControl('adoptArrival', { ...ref, rows, nowMs: nowMs() }))) {
      // The move was aborted while the files were put in place, perhaps before they were there to be removed.
      await this.#empty(ref);
      throw calledOff(ref);
    }
    await files.clear('arriving', ref);
    log.info({ organisation_id: ref.organisationId, move_id: ref.moveId }, 'an arriving organisation is in place and sealed');
    return 'adopted';
  }

  /** The map names this cell: the organisation is served here from now on. Idempotent. @throws Refusal */
  async unseal(ref: MoveRef): Promise<ArrivalStep> {
    const { storage, cell, log, nowMs } = this.#options;
    const { organisationId, moveId } = ref;
    const { step } = this.#require(ref);
    if (step === 'receiving') throw new Refusal('conflict', `The organisation ${organisationId} is not in place yet.`);
    if (step === 'unsealed') return step;
    // In this order: requests arrive as soon as it is placed, and are asked to retry until the seal is removed.
    const version = placementVersionOf(moveId) + 1;
    await storage.writeControl('placeOrganisation', { organisationId, cell, version, nowMs: nowMs() });
    await storage.write(organisationId, 'unsealOrganisation', { moveId });
    // The other cell empties its own file on this answer.
    if (readSeal(storage.organisation(organisationId)) !== undefined)
      throw new Error(`the file of ${organisationId} has another seal than its move's`);
    await storage.writeControl('settleArrival', { ...ref, nowMs: nowMs() });
    log.info({ organisation_id: organisationId, move_id: moveId }, 'an organisation was moved here and is served');
    this.#options.onArrived(organisationId);
    return 'unsealed';
  }

  /** The move was aborted. Idempotent. @throws Refusal conflict when the organisation lives here by now. */
  async discard(ref: MoveRef): Promise<ArrivalStep> {
    const { storage, nowMs } = this.#options;
    const step = await storage.writeControl('discardArrival', { ...ref, nowMs: nowMs() });
    if (step === undefined) throw unknown(ref);
    if (step !== 'discarded') throw new Refusal('conflict', `The organisation ${ref.organisationId} lives here.`);
    await this.#empty(ref);
    return step;
  }

  /** What cannot be removed now stays sealed, and is removed at the next start or replaced by the next move. */
  async #empty(ref: MoveRef): Promise<void> {
    const { files, log } = this.#options;
    const { organisationId, moveId } = ref;
    try {
      await files.empty({ organisationId, moveId, because: 'discarded' });
      await files.clear('arriving', ref);
    } catch (error) {
      log.warn(
        { err: error, organisation_id: organisationId },
        'removing the copy of an organisation whose move was aborted failed: it stays sealed until the next start or move',
      );
    }
  }

  /** Refuses a move onto a file that takes writes: its data must not be overwritten. */
  #refuseUnsealed(organisationId: string): void {
    const { storage, cell } = this.#options;
    if (!existsSync(storage.layout.organisation(organisationId))) return;
    const seal = readSeal(storage.organisation(organisationId));
    if (seal !== undefined && seal.sealedAtMs !== null) return;
    throw new Refusal('conflict', `Cell ${cell} has a file of ${organisationId} that takes writes. It is left as it is.`);
  }

  #require(ref: MoveRef): ArrivalRow {
    const row = this.read(ref.organisationId);
    if (row?.moveId !== ref.moveId) throw unknown(ref);
    if (row.step === 'discarded') throw calledOff(ref);
    return row;
  }
}

function unknown({ organisationId, moveId }: MoveRef): Refusal {
  return new Refusal('not_found', `This cell knows no move ${moveId} of ${organisationId}.`);
}

function calledOff({ organisationId }: MoveRef): Refusal {
  return new Refusal('conflict', `The arrival of ${organisationId} was called off.`);
}
