/**
 * Which openings have the model asked before they are committed (CHAT-22). Owns who asks at this moment, and whose last opening was not
 * stored: a call that is given up costs money, and counts for no limit.
 */
import { LRUCache } from 'lru-cache';
import type { OpenTurnOutput } from '../../storage/conversations/turn-openings.ts';

/** Organisations whose files refuse writes at the same time; of one that is forgotten, one more call may be given up. */
const REFUSED_KEPT = 1_000;

export class EarlyCalls {
  /** Turns that are being opened with a call; each is a request under way. */
  readonly #asking = new Set<string>();
  /** Openings that were committed here. */
  opened = 0;
  readonly #refused = new LRUCache<string, true>({ max: REFUSED_KEPT });

  /**
   * Commits an opening and has the model asked meanwhile, unless a copy of the turn does so already, or the organisation's last opening
   * was not stored. When the commit does not open the turn, the call is given up. `turn`: its name among those of all apps. @throws what the
   * commit throws
   */
  async during<Call extends { giveUp(): void }>(
    { organisationId, turn, mayAsk }: { readonly organisationId: string; readonly turn: string; readonly mayAsk: boolean },
    commit: () => Promise<OpenTurnOutput>,
    ask: () => Call,
  ): Promise<{ output: OpenTurnOutput; early: Call | null }> {
    const asks = mayAsk && !this.#refused.has(organisationId) && !this.#asking.has(turn);
    if (asks) this.#asking.add(turn);
    let early: Call | null = null;
    try {
      // Posted behind this tick: the request is made of the rows as they are before the write.
      const committing = commit();
      try {
        if (asks) early = ask();
      } catch (error) {
        await committing.catch(() => {});
        throw error;
      }
      const output = await committing;
      this.#refused.delete(organisationId);
      if (output.outcome === 'opened') this.opened += 1;
      else early?.giveUp();
      return { output, early };
    } catch (error) {
      early?.giveUp();
      this.#refused.set(organisationId, true);
      throw error;
    } finally {
      if (asks) this.#asking.delete(turn);
    }
  }
}
