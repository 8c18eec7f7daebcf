/**
 * Organisations that leave this cell (CELL-11, CELL-12): begins and aborts moves, and knows which of them this node drives. The rows
 * say how far a move is; a node resumes a move that has no driver, so a move continues after any crash.
 */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../../protocol/errors.ts';
import { readCellUrl } from '../../storage/moving/cells.ts';
import { uploadBytesOf } from '../../storage/moving/move-copy.ts';
import { listUnfinishedMoves, type MoveRow, readMove } from '../../storage/moving/moves.ts';
import { readSeal } from '../../storage/moving/seal.ts';
import { abortTraces, MOVE_TIMES, MoveDrive, type MovesOptions, type MoveTimes } from './move-drive.ts';
import { MoveSteps } from './move-steps.ts';

/** On SIGTERM: a thread that copies a large file is not waited for. */
const CLOSE_MS = 2_000;
/** Copied, sent, verified on both sides: what a host of two cores does with a large file, measured. */
const MOVED_BYTES_PER_S = 30_000_000;
/** What the steps take of an organisation that has next to nothing. */
const PAUSE_MIN_S = 1;

export class OrganisationMoves {
  readonly #options: MovesOptions;
  readonly #times: MoveTimes;
  readonly #steps: MoveSteps;
  /** By move: what this node drives now. */
  readonly #driven = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MovesOptions) {
    this.#options = options;
    this.#times = { ...MOVE_TIMES, ...options.times };
    this.#steps = new MoveSteps({ ...options, quietMs: this.#times.quietMs });
  }

  get cell(): string {
    return this.#options.cell;
  }

  /** Starts to resume moves without a driver. */
  watch(): void {
    this.#look();
    this.#timer = setInterval(() => this.#look(), this.#times.lookMs).unref();
  }

  read(organisationId: string): MoveRow | undefined {
    return readMove(this.#options.storage.control, organisationId);
  }

  /** Moves away from here that are not done, and those aborted lately, the earliest first. */
  unfinished(): MoveRow[] {
    const { storage, nowMs } = this.#options;
    return listUnfinishedMoves(storage.control, nowMs());
  }

  /** For how long a move of the organisation will hold its writes up, by what it has now; turns that run get to end before. */
  expectedPause(organisationId: string): { readonly bytes: number; readonly seconds: number } {
    const { storage } = this.#options;
    const file = statSync(storage.layout.organisation(organisationId), { throwIfNoEntry: false });
    const bytes = file === undefined ? 0 : file.size + uploadBytesOf(storage.organisation(organisationId));
    return { bytes, seconds: PAUSE_MIN_S + Math.ceil(bytes / MOVED_BYTES_PER_S) };
  }

  /**
   * Starts to move the organisation to another cell, or continues a move there.
   * @throws Refusal not_found for an organisation or a cell that is not known; conflict when it does not live here.
   */
  async begin(organisationId: string, targetCell: string): Promise<MoveRow> {
    const { storage, cell, nowMs } = this.#options;
    if (targetCell === cell)
      throw new Refusal('conflict', `The organisation ${organisationId} is to move to the cell that it is asked of.`);
    if (readCellUrl(storage.control, targetCell) === undefined) {
      throw new Refusal('not_found', `No cell ${targetCell} was ever seen. It appears once a node with that CELL_ID has met this Redis.`);
    }
    await this.#clean(organisationId);
    const nonce = randomBytes(8).toString('hex');
    const move = await storage.writeControl('beginMove', { organisationId, cell, targetCell, nonce, nowMs: nowMs() });
    // A move that was under way has a driver, or gets one when it is seen to have none.
    if (move.moveId.endsWith(nonce)) void this.#drive(move);
    return move;
  }

  /** Gives the move up: the organisation takes writes again. @throws Refusal not_found when there is none; conflict when the map has been switched. */
  async abort(organisationId: string): Promise<MoveRow> {
    const { storage, nowMs } = this.#options;
    const move = this.read(organisationId);
    if (move === undefined) throw new Refusal('not_found', `The organisation ${organisationId} is not being moved.`);
    const { moveId } = move;
    const step = await storage.writeControl('abortMove', { organisationId, moveId, nowMs: nowMs(), error: null, traces: abortTraces() });
    if (step !== 'aborted') {
      throw new Refusal('conflict', `The organisation ${organisationId} lives on cell ${move.targetCell} now. Move it back from there.`);
    }
    // At once: its driver may be in a long step, and undoes the rest afterwards.
    await storage.write(organisationId, 'unsealOrganisation', { moveId });
    const aborted = this.read(organisationId) ?? move;
    void this.#drive(aborted);
    return aborted;
  }

  /** Its moves stop at their next step, and continue on another node or at the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    const late = pause(CLOSE_MS, undefined, { ref: false });
    await Promise.race([Promise.all(this.#driven.values()), late]);
  }

  /** Takes off what an aborted move has left: its seal. */
  async #clean(organisationId: string): Promise<void> {
    const move = this.read(organisationId);
    if (move?.step === 'aborted' && this.#isSealedBy(move)) await this.#drive(move);
  }

  #isSealedBy({ organisationId, moveId }: MoveRow): boolean {
    return readSeal(this.#options.storage.organisation(organisationId))?.moveId === moveId;
  }

  #look(): void {
    const { nowMs, log } = this.#options;
    try {
      for (const move of this.unfinished()) {
        const isDriven = this.#driven.has(move.moveId) || Math.abs(nowMs() - move.updatedAtMs) < this.#times.abandonedMs;
        if (isDriven || (move.step === 'aborted' && !this.#isSealedBy(move))) continue;
        void this.#claim(move).catch((error: unknown) =>
          log.warn({ err: error, move_id: move.moveId }, 'taking over a move failed: trying again'),
        );
      }
    } catch (error) {
      log.warn({ err: error }, 'looking for unfinished moves failed: trying again');
    }
  }

  async #claim(move: MoveRow): Promise<void> {
    const { storage, nowMs } = this.#options;
    const { organisationId, moveId, updatedAtMs } = move;
    if (!(await storage.writeControl('claimMove', { organisationId, moveId, nowMs: nowMs(), seenAtMs: updatedAtMs }))) return;
    await this.#drive(move);
  }

  /** Drives the move on this node, unless it does so already. Resolves when this node has stopped driving it. */
  #drive(move: MoveRow): Promise<void> {
    const { moveId } = move;
    const known = this.#driven.get(moveId);
    if (known !== undefined || this.#stop.signal.aborted) return known ?? Promise.resolve();
    const driven = new MoveDrive(this.#options, this.#times, this.#steps, this.#stop.signal, move).run().finally(() => {
      this.#driven.delete(moveId);
    });
    this.#driven.set(moveId, driven);
    return driven;
  }
}
