/**
 * The move of an organisation from this cell to another (CELL-11, CELL-12). Owns the order of the steps, and until when the move can be
 * aborted. It does not own how a step is done. After a crash a step is repeated, because the row holds the last one that was done.
 *
 * | state \ event | move.resumed | source.sealed | copy.verified | target.adopted | map.switched | target.unsealed | source.emptied | move.aborted |
 * |---------------|--------------|---------------|---------------|----------------|--------------|-----------------|----------------|--------------|
 * | begun         | stays ¹      | sealed        | ignored       | ignored        | ignored      | ignored         | ignored        | aborted ²    |
 * | sealed        | stays ¹      | ignored       | copied        | ignored        | ignored      | ignored         | ignored        | aborted ²    |
 * | copied        | stays ¹      | ignored       | stays ³       | shipped        | ignored      | ignored         | ignored        | aborted ²    |
 * | shipped       | stays ¹      | ignored       | ignored       | ignored        | switched     | ignored         | ignored        | aborted ²    |
 * | switched      | stays ¹      | ignored       | ignored       | ignored        | ignored      | unsealed        | ignored        | refused ⁴    |
 * | unsealed      | stays ¹      | ignored       | ignored       | ignored        | ignored      | ignored         | done           | refused ⁴    |
 * | done          | ignored      | ignored       | ignored       | ignored        | ignored      | ignored         | ignored        | refused ⁴    |
 * | aborted       | stays ⁵      | ignored       | ignored       | ignored        | ignored      | ignored         | ignored        | ignored      |
 *
 * ¹ what leads to the next step is done, or done again. ² the seal comes off here, and what the other cell has is discarded.
 * ³ the copy was made by an earlier release, and is made again. ⁴ the map names the other cell: it is moved back from there.
 * ⁵ a crash may have left the seal on.
 */
import { emit, setup } from 'xstate';

export type OrganisationMoveState = 'begun' | 'sealed' | 'copied' | 'shipped' | 'switched' | 'unsealed' | 'done' | 'aborted';

export type OrganisationMoveEvent =
  /** A node drives the move: the one that began it, or one that finds it after a crash. */
  | { readonly type: 'move.resumed' }
  | { readonly type: 'source.sealed' }
  | { readonly type: 'copy.verified' }
  /** The other cell has everything in place, under its seal. */
  | { readonly type: 'target.adopted' }
  | { readonly type: 'map.switched' }
  | { readonly type: 'target.unsealed' }
  | { readonly type: 'source.emptied' }
  | { readonly type: 'move.aborted' };

export type OrganisationMoveEffect = {
  readonly type: 'sealSource' | 'copySource' | 'shipCopy' | 'switchMap' | 'unsealTarget' | 'emptySource' | 'undo';
};

const definition = setup({
  types: {
    events: {} as OrganisationMoveEvent,
    emitted: {} as OrganisationMoveEffect,
  },
  actions: {
    sealSource: emit({ type: 'sealSource' }),
    copySource: emit({ type: 'copySource' }),
    shipCopy: emit({ type: 'shipCopy' }),
    switchMap: emit({ type: 'switchMap' }),
    unsealTarget: emit({ type: 'unsealTarget' }),
    emptySource: emit({ type: 'emptySource' }),
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
        'source.sealed': { target: 'sealed', actions: 'copySource' },
        'move.aborted': { target: 'aborted', actions: 'undo' },
      },
    },
    sealed: {
      on: {
        'move.resumed': { actions: 'copySource' },
        'copy.verified': { target: 'copied', actions: 'shipCopy' },
        'move.aborted': { target: 'aborted', actions: 'undo' },
      },
    },
    copied: {
      on: {
        'move.resumed': { actions: 'shipCopy' },
        'copy.verified': { actions: 'shipCopy' },
        'target.adopted': { target: 'shipped', actions: 'switchMap' },
        'move.aborted': { target: 'aborted', actions: 'undo' },
      },
    },
    shipped: {
      on: {
        'move.resumed': { actions: 'switchMap' },
        'map.switched': { target: 'switched', actions: 'unsealTarget' },
        'move.aborted': { target: 'aborted', actions: 'undo' },
      },
    },
    switched: {
      meta: abortRefused,
      on: { 'move.resumed': { actions: 'unsealTarget' }, 'target.unsealed': { target: 'unsealed', actions: 'emptySource' } },
    },
    unsealed: { meta: abortRefused, on: { 'move.resumed': { actions: 'emptySource' }, 'source.emptied': 'done' } },
    done: { type: 'final', meta: abortRefused },
    aborted: { on: { 'move.resumed': { actions: 'undo' } } },
  },
});
