/**
 * The move of an organisation from this cell to another (CELL-11, CELL-12). Owns the order of the steps, and until when the move can be
 * aborted. It does not own how a step is done. After a crash a step is repeated, because the row holds the last one that was done.
 *
 * | state \ event | move.resumed | source.sealed | target.adopted | source.emptied | move.aborted |
 * |---------------|--------------|---------------|----------------|----------------|--------------|
 * | begun         | stays ¹      | sealed        | ignored        | ignored        | aborted ²    |
 * | sealed        | stays ¹      | ignored       | switched ³     | ignored        | aborted ²    |
 * | switched      | stays ¹      | ignored       | ignored        | done           | refused ⁴    |
 * | done          | ignored      | ignored       | ignored        | ignored        | refused ⁴    |
 * | aborted       | stays ⁵      | ignored       | ignored        | ignored        | ignored      |
 *
 * ¹ what leads to the next step is done, or done again. ² the seal comes off here, and what the other cell has is discarded.
 * ³ the map names the other cell from this commit on. ⁴ the organisation lives on the other cell: it is moved back from there.
 * ⁵ a crash may have left the seal on.
 */
import { emit, setup } from 'xstate';

export type OrganisationMoveState = 'begun' | 'sealed' | 'switched' | 'done' | 'aborted';

export type OrganisationMoveEvent =
  /** A node drives the move: the one that began it, or one that finds it after a crash. */
  | { readonly type: 'move.resumed' }
  | { readonly type: 'source.sealed' }
  /** The other cell has everything in place, under its seal. */
  | { readonly type: 'target.adopted' }
  /** The other cell takes writes, and nothing is left here. */
  | { readonly type: 'source.emptied' }
  | { readonly type: 'move.aborted' };

export type OrganisationMoveEffect = {
  readonly type: 'sealSource' | 'sendCopy' | 'openTarget' | 'undo';
};

const definition = setup({
  types: {
    events: {} as OrganisationMoveEvent,
    emitted: {} as OrganisationMoveEffect,
  },
  actions: {
    sealSource: emit({ type: 'sealSource' }),
    sendCopy: emit({ type: 'sendCopy' }),
    openTarget: emit({ type: 'openTarget' }),
    undo: emit({ type: 'undo' }),
  },
});

/** By `actors/cells/move.ts`. */
const abortRefused = { refused: { 'move.aborted': 'conflict' } };

export const organisationMove = definition.createMachine({
  id: 'organisation-move',
  initial: 'begun',
  states: {
    begun: {
      on: {
        'move.resumed': { actions: 'sealSource' },
        'source.sealed': { target: 'sealed', actions: 'sendCopy' },
        'move.aborted': { target: 'aborted', actions: 'undo' },
      },
    },
    sealed: {
      on: {
        'move.resumed': { actions: 'sendCopy' },
        'target.adopted': { target: 'switched', actions: 'openTarget' },
        'move.aborted': { target: 'aborted', actions: 'undo' },
      },
    },
    switched: { meta: abortRefused, on: { 'move.resumed': { actions: 'openTarget' }, 'source.emptied': 'done' } },
    done: { type: 'final', meta: abortRefused },
    aborted: { on: { 'move.resumed': { actions: 'undo' } } },
  },
});
