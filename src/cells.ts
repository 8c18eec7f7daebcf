/** Composition: makes the nodes of a data directory one cell among others, when CELL_ID names it (decisions §10). */
import type { Logger } from 'pino';
import { Arrivals } from './actors/cells/arrival.ts';
import { type Cells, createCells } from './actors/cells/cells.ts';
import { OrganisationMoves } from './actors/cells/move.ts';
import type { ClusterNode } from './cluster.ts';
import type { CellConfig } from './config.ts';
import { createMoveFiles } from './storage/move-files.ts';
import type { Storage } from './storage/storage.ts';

export interface OpenCell {
  readonly cells: Cells;
  readonly moves: { readonly leaving: OrganisationMoves; readonly arriving: Arrivals };
  close(): Promise<void>;
}

export interface CellOptions {
  readonly config: CellConfig;
  readonly node: ClusterNode;
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
  /** The organisation takes writes again, or for the first time here: takes up what is due in it. */
  takeUp(organisationId: string): Promise<void>;
}

export async function openCell({ config, node, storage, log, nowMs, takeUp }: CellOptions): Promise<OpenCell> {
  const { bus, members, redis } = node;
  const cells = createCells({ self: config, storage, redis, log, nowMs });
  const files = createMoveFiles(storage.layout);
  const placed = (organisationId: string) => {
    void cells.map.publish(organisationId);
    bus.announce('placed', { organisationId });
  };
  const goOn = (organisationId: string) => {
    takeUp(organisationId).catch((error: unknown) => {
      log.error({ err: error, organisation_id: organisationId }, 'what is due in the organisation could not be taken up');
    });
  };
  const leaving = new OrganisationMoves({
    storage,
    client: cells.client,
    files,
    cell: config.id,
    isAlive: (owner) => owner === bus.self || (owner !== '' && members.liveness(owner) === 'alive'),
    log,
    nowMs,
    onLeft: placed,
    onStayed: goOn,
  });
  const arriving = new Arrivals({
    storage,
    files,
    cell: config.id,
    log,
    nowMs,
    onArrived(organisationId) {
      placed(organisationId);
      goOn(organisationId);
    },
  });
  await arriving.resume();
  leaving.watch();
  return {
    cells,
    moves: { leaving, arriving },
    async close() {
      await leaving.close();
      await cells.close();
    },
  };
}
