/**
 * How each step of a move is done on the cell that an organisation leaves (CELL-8, CELL-11). Each may be done again, after a crash or
 * beside another node that does the same; what only one may do is a compare-and-set on the move's row.
 */
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import * as v from 'valibot';
import type { OrganisationMoveEffect, OrganisationMoveEvent } from '../../machines/organisation-move.ts';
import { ARRIVAL_STEPS, type ArrivalStep } from '../../storage/moving/arrivals.ts';
import { SCHEMA_VERSIONS } from '../../storage/moving/move-copy.ts';
import type { MoveFiles } from '../../storage/moving/move-files.ts';
import { type MoveRow, placementVersionOf } from '../../storage/moving/moves.ts';
import { readPlacement } from '../../storage/moving/placements.ts';
import { ownersOfOpenTurns } from '../../storage/moving/seal.ts';
import type { Storage } from '../../storage/storage.ts';
import type { CallTimeouts, CellClient } from './cell-client.ts';

export interface MoveStepServices {
  readonly storage: Pick<Storage, 'control' | 'layout' | 'organisation' | 'use' | 'write' | 'writeControl'>;
  readonly client: Pick<CellClient, 'call'>;
  readonly files: MoveFiles;
  readonly cell: string;
  /** Whether the turns that this node has open may still come to their end; '' is a node from before there were several. */
  isAlive(node: string): Promise<boolean>;
  readonly log: Logger;
  nowMs(): number;
  readonly quietMs: number;
}

/** The other cell refuses the organisation: asking again does not help. */
export class MoveRefused extends Error {}

/** How often a closing organisation is checked: its last turn may end any moment, and no new one can be opened meanwhile. */
const QUIET_LOOK_MS = 50;
/** A question is a few rows. */
const QUESTION_TIMEOUTS: CallTimeouts = { timeoutMs: 10_000 };
/** Once all was sent it is verified, copied and put in place before the answer, which takes minutes of a large file. */
const SENDING_TIMEOUTS: CallTimeouts = { timeoutMs: 120_000, answerTimeoutMs: 600_000 };

const stepAnswer = v.object({ step: v.picklist(ARRIVAL_STEPS) });
const refusalAnswer = v.object({ error: v.object({ message: v.string() }) });

export class MoveSteps {
  readonly #services: MoveStepServices;

  constructor(services: MoveStepServices) {
    this.#services = services;
  }

  /** Does what leads to the next step; undefined when none follows. `signal` ends a wait early, and then it throws. */
  async perform(effect: OrganisationMoveEffect['type'], move: MoveRow, signal: AbortSignal): Promise<OrganisationMoveEvent | undefined> {
    switch (effect) {
      case 'sealSource':
        await this.#seal(move, signal);
        return { type: 'source.sealed' };
      case 'sendCopy':
        await this.#send(move);
        return { type: 'target.adopted' };
      case 'openTarget':
        await this.#openTarget(move);
        await this.#services.files.empty({ ...move, because: 'moved' });
        await this.#services.files.clear('leaving', move);
        return { type: 'source.emptied' };
      case 'undo':
        await this.#undo(move);
        return undefined;
    }
  }

  async #seal(move: MoveRow, signal: AbortSignal): Promise<void> {
    const { storage, nowMs } = this.#services;
    const { organisationId, moveId } = move;
    // Refusals come first, while the organisation still takes writes here.
    await this.#offer(move);
    // One that has nothing has no file yet.
    await storage.use(organisationId);
    if (!(await storage.write(organisationId, 'closeOrganisation', { moveId, nowMs: nowMs() }))) throw sealedByAnother(move);
    await this.#quiet(move, signal);
    if (!(await storage.write(organisationId, 'sealOrganisation', { moveId, nowMs: nowMs() }))) throw sealedByAnother(move);
  }

  /** Waits for running turns. A turn that is cut off is answered when it is retried, by the other cell. */
  async #quiet({ organisationId }: MoveRow, signal: AbortSignal): Promise<void> {
    const { storage, isAlive, quietMs } = this.#services;
    const endMs = performance.now() + quietMs;
    while (performance.now() < endMs) {
      const alive = await Promise.all(ownersOfOpenTurns(storage.organisation(organisationId)).map(isAlive));
      if (!alive.includes(true)) return;
      await pause(QUIET_LOOK_MS, undefined, { signal });
    }
  }

  /** Asks whether the organisation may come; returns whether it is in place over there. @throws MoveRefused */
  async #offer(move: MoveRow): Promise<boolean> {
    const step = await this.#ask(move, '', { source_cell: this.#services.cell, schema: SCHEMA_VERSIONS });
    return step === 'adopted' || step === 'unsealed';
  }

  /** Brings everything over, in place and under its seal, unless it is. */
  async #send(move: MoveRow): Promise<void> {
    const { files, storage, nowMs } = this.#services;
    const { organisationId, moveId, step } = move;
    if (await this.#offer(move)) return;
    const { folder, paths, copy } = await files.copy(move);
    try {
      await storage.writeControl('noteMove', { organisationId, moveId, step, nowMs: nowMs(), copy });
      await this.#call(move, 'PUT', `?move_id=${moveId}`, files.stream(folder, paths), SENDING_TIMEOUTS);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Asked of the other cell only here, when the map names it. */
  async #openTarget(move: MoveRow): Promise<void> {
    const { organisationId, moveId, targetCell } = move;
    const placed = readPlacement(this.#services.storage.control, organisationId);
    // It moved on from there while this cell was down, so it was unsealed long ago.
    if ((placed?.version ?? 0) > placementVersionOf(moveId) + 1) return;
    // Once more: whatever happened to the other cell since, it has everything before it is unsealed.
    await this.#send(move);
    const step = await this.#ask(move, '/unseal');
    if (step !== 'unsealed') throw new Error(`cell ${targetCell} says ${step} instead of unsealed`);
  }

  /** The seal first: the row says `aborted`, so the other cell is never told to unseal what it has. */
  async #undo(move: MoveRow): Promise<void> {
    const { storage, files, log } = this.#services;
    const { organisationId, moveId } = move;
    await storage.write(organisationId, 'unsealOrganisation', { moveId });
    await files.clear('leaving', move);
    try {
      await this.#ask(move, '/discard');
    } catch (error) {
      // It keeps a sealed copy that is never opened, until the next move there replaces it.
      log.warn(
        { err: error, organisation_id: organisationId, cell: move.targetCell },
        'telling the target cell that a move was aborted failed: it keeps a sealed copy until the next move there',
      );
    }
  }

  #ask(move: MoveRow, path: string, more: object = {}): Promise<ArrivalStep> {
    return this.#call(move, 'POST', path, { move_id: move.moveId, ...more }, QUESTION_TIMEOUTS);
  }

  /** Returns how far the move is over there. @throws MoveRefused for what will be answered again; Error for what may be mended */
  async #call(move: MoveRow, method: string, path: string, body: Readable | object, timeouts: CallTimeouts): Promise<ArrivalStep> {
    const { organisationId, targetCell } = move;
    const url = `/cell/v1/arrivals/${organisationId}${path}`;
    const { status, json } = await this.#services.client.call(targetCell, method, url, body, timeouts);
    if (status >= 200 && status < 300) return v.parse(stepAnswer, json).step;
    const said = v.safeParse(refusalAnswer, json);
    const message = said.success ? said.output.error.message : `cell ${targetCell} answered ${status}`;
    if (status === 401 || status === 403) throw new MoveRefused(`Cell ${targetCell} does not know this one as a cell: ${message}`);
    if (status === 409 || status === 404) throw new MoveRefused(message);
    throw new Error(message);
  }
}

function sealedByAnother({ organisationId }: MoveRow): Error {
  return new Error(`the file of ${organisationId} has the seal of another move`);
}
