/** Services have moves of organisations; a line of `services.ts` once that file has it. */
import type { Arrivals } from '../../actors/cells/arrival.ts';
import type { OrganisationMoves } from '../../actors/cells/move.ts';

declare module '../services.ts' {
  interface Services {
    /** Null: this installation has one cell, and nowhere to move to. */
    readonly moves?: { readonly leaving: OrganisationMoves; readonly arriving: Arrivals } | null;
  }
}
