/**
 * How each step of a move is done on the cell that an organisation leaves (CELL-11). Each may be done again, after a crash or
 * beside another node that does the same; what only one may do is a compare-and-set on the move's row.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { OrganisationMoveEffect, OrganisationMoveEvent } from '../../machines/organisation-move.ts';
import type { MoveFiles } from '../../storage/moving/move-files.ts';
import { type CopyRecord, type MoveRow, placementVersionOf } from '../../storage/moving/moves.ts';
import { readPlacement } from '../../storage/moving/placements.ts';
import { ownersOfOpenTurns } from '../../storage/moving/seal.ts';
import type { Storage } from '../../storage/storage.ts';
import type { CellClient } from './cell-client.ts';
import { MoveSender } from './move-sender.ts';

export interface MoveStepServices {
  readonly storage: Pick<Storage, 'control' | 'layout' | 'organisation' | 'use' | 'vault' | 'write' | 'writeControl'>;
  readonly client: Pick<CellClient, 'call'>;
  readonly files: MoveFiles;
  /** This cell. */
  readonly cell: string;
  /** Whether the turns that this node has open may still come to their end; '' is a node from before there were several. */
  isAlive(node: string): Promise<boolean>;
  readonly log: Logger;
  nowMs(): number;
  /** How long turns get to end before the file is sealed. */
  readonly quietMs: number;
}

/** The result of a step. */
export interface Done {
  readonly event: OrganisationMoveEvent;
  readonly copy?: CopyRecord;
}

/** How often a closing organisation is checked: its last turn may end any moment, and no new one can be opened meanwhile. */
const QUIET_LOOK_MS = 50;

export class MoveSteps {
  readonly #services: MoveStepServices;
  readonly #sender: MoveSender;

  constructor(services: MoveStepServices) {
    this.#services = services;
    const { client, files, storage, cell } = services;
    this.#sender = new MoveSender({ client, files, layout: storage.layout, vault: storage.vault, cell });
  }

  /** Does what leads to the next step; undefined when none follows. `signal` ends a wait early, and then it throws. */
  async perform(effect: OrganisationMoveEffect['type'], move: MoveRow, signal: AbortSignal): Promise<Done | undefined> {
    switch (effect) {
      case 'sealSource':
        await this.#seal(move, signal);
        return { event: { type: 'source.sealed' } };
      case 'sendCopy': {
        const copy = await this.#services.files.copy(move);
        await this.#sender.ship(move, copy);
        return { event: { type: 'target.adopted' }, copy };
      }
      case 'openTarget':
        await this.#openTarget(move);
        await this.#services.files.empty({ ...move, because: 'moved' });
        await this.#services.files.clear('leaving', move);
        return { event: { type: 'source.emptied' } };
      case 'undo':
        await this.#undo(move);
        return undefined;
    }
  }

  async #seal(move: MoveRow, signal: AbortSignal): Promise<void> {
    const { storage, nowMs } = this.#services;
    const { organisationId, moveId } = move;
    // Refusals come first, while the organisation still takes writes here.
    await this.#sender.offer(move);
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

  /** Asked of the other cell only here, when the map names it. */
  async #openTarget(move: MoveRow): Promise<void> {
    const { organisationId, moveId, copy } = move;
    const placed = readPlacement(this.#services.storage.control, organisationId);
    // It moved on from there while this cell was down, so it was unsealed long ago.
    if ((placed?.version ?? 0) > placementVersionOf(moveId) + 1) return;
    if (copy === null) throw new Error(`${moveId} is past its copy and has none`);
    // Sent once more: whatever happened to the other cell since, it has everything before it is unsealed.
    await this.#sender.ship(move, copy);
    await this.#sender.unseal(move);
  }

  /** The seal first: the row says `aborted`, so the other cell is never told to unseal what it has. */
  async #undo(move: MoveRow): Promise<void> {
    const { storage, files, log } = this.#services;
    const { organisationId, moveId } = move;
    await storage.write(organisationId, 'unsealOrganisation', { moveId });
    await files.clear('leaving', move);
    try {
      await this.#sender.discard(move);
    } catch (error) {
      // It keeps a sealed copy that is never opened, until the next move there replaces it.
      log.warn(
        { err: error, organisation_id: organisationId, cell: move.targetCell },
        'telling the target cell that a move was aborted failed: it keeps a sealed copy until the next move there',
      );
    }
  }
}

function sealedByAnother({ organisationId }: MoveRow): Error {
  return new Error(`the file of ${organisationId} has the seal of another move`);
}
