/** Composition: makes the nodes of a data directory one cell among others, when CELL_ID names it (CELL-1). */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Cells } from '../actors/cells/cells.ts';
import { OrganisationMoves } from '../actors/cells/move.ts';
import { MoveReceiver } from '../actors/cells/move-receiver.ts';
import { forEachOrganisation } from '../actors/for-each-organisation.ts';
import { MoveFiles } from '../storage/moving/move-files.ts';
import { goneMoveId, listStranded } from '../storage/moving/moves.ts';
import type { Storage } from '../storage/storage.ts';
import { REDIS_WAIT_MS, whenUp } from './cell-fence.ts';
import type { CellConfig } from './config.ts';
import type { ClusterNode } from './join-cluster.ts';

export interface OpenCell {
  readonly cells: Cells;
  readonly moves: { readonly leaving: OrganisationMoves; readonly arriving: MoveReceiver };
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

/** Before it serves, a cell that was down receives the current placements; without Redis it uses those it knew. */
async function hearOfPlacements({ map }: Cells, redis: ClusterNode['redis']): Promise<void> {
  await whenUp(redis);
  if (redis.up) await Promise.race([map.sync(), pause(REDIS_WAIT_MS, undefined, { ref: false })]);
}

/** A cell restored from a backup may have files of organisations that moved away since: these must not take writes again. */
async function sealStranded(self: string, storage: Storage, log: Logger, nowMs: number): Promise<void> {
  const stranded = new Map(listStranded(storage.control, self).map((one) => [one.organisationId, one]));
  const seal = async (organisationId: string) => {
    const { cell = '', version = 0 } = stranded.get(organisationId) ?? {};
    const moveId = goneMoveId(version, nowMs);
    // Sealed before it is noted, because a noted one is not checked again.
    await storage.write(organisationId, 'sealOrganisation', { moveId, nowMs });
    await storage.writeControl('noteGone', { organisationId, moveId, cell, nowMs });
  };
  // An organisation whose file is missing takes no writes anyway: it is sealed at a later start.
  await forEachOrganisation({ storage, log }, 'sealing organisations that live on another cell', seal, { ids: stranded.keys() });
}

export async function openCell({ config, node, storage, log, nowMs, takeUp }: CellOptions): Promise<OpenCell> {
  const { members, redis, fence } = node;
  if (fence === undefined) throw new Error('a cell has a fence');
  const { self } = members;
  const strand = () => sealStranded(config.id, storage, log, nowMs());
  const onPlaced = () => {
    strand().catch((error: unknown) =>
      log.error({ err: error }, 'sealing organisations that live on another cell failed: the next start tries again'),
    );
  };
  const cells = new Cells({
    self: { ...config, term: fence.own.term, replica: fence.replica },
    mayPublish: () => fence.holds,
    storage,
    redis,
    log,
    nowMs,
    onPlaced,
  });
  await hearOfPlacements(cells, redis);
  if (fence.holds) await strand();
  const files = new MoveFiles(storage.layout, storage.vault);
  const placed = (organisationId: string) => void cells.map.publish(organisationId);
  const goOn = (organisationId: string) => {
    takeUp(organisationId).catch((error: unknown) => {
      log.error({ err: error, organisation_id: organisationId }, 'resuming the unfinished work of an organisation failed');
    });
  };
  const leaving = new OrganisationMoves({
    storage,
    client: cells.client,
    files,
    cell: config.id,
    isAlive: async (owner) => owner === self || (owner !== '' && (await members.probe(owner)) === 'alive'),
    log,
    nowMs,
    onLeft: placed,
    onStayed: goOn,
  });
  const arriving = new MoveReceiver({
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
  // Deletes what was called off, in the background.
  fence.whenHeld(() => {
    void arriving.resume();
    leaving.watch();
  });
  return {
    cells,
    moves: { leaving, arriving },
    async close() {
      await leaving.close();
      await cells.close();
    },
  };
}
