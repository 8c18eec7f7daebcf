/** Runs the calls of one conversation: each in the tab where the person asked or agreed, and once what changes something (CLIENT-12, CLIENT-32). */
import type { ExtractEvents } from '@xstate/store';
import type { Clock } from '../surroundings.ts';
import type { TabTeam } from '../tabs.ts';
import { ownFailure } from '../transport/failure.ts';
import type { ActionHandlers } from './action-handlers.ts';
import { type Call, findCall, lostOutcome } from './calls.ts';
import type { Keeping } from './keeping.ts';
import type { ConversationStore } from './logic.ts';
import type { ConversationEvents } from './state.ts';

/** A tab tells in time what came of an action, unless its browser let it sleep. */
const ASLEEP_MS = 5_000;
const TAB_GONE = ownFailure('unusable', 'The tab where you agreed was closed. Press again to do it here.', true);

export interface RunsParts {
  readonly store: ConversationStore;
  readonly handlers: ActionHandlers;
  readonly keeping: Keeping;
  readonly clock: Clock;
  readonly team: () => TabTeam | undefined;
  readonly wish: (event: ExtractEvents<ConversationEvents>) => void;
  /** A wish that takes along what is in this tab. */
  readonly tell: (event: { readonly type: 'actionEnded' } & ConversationEvents['actionEnded']) => void;
  readonly isClosed: () => boolean;
}

export class Runs {
  readonly #parts: RunsParts;
  /** Calls that began in this tab, of those that the state has. */
  #begun: readonly string[] = [];
  /** Other tabs in which something runs. */
  readonly #watched = new Set<string>();

  constructor(parts: RunsParts) {
    this.#parts = parts;
    parts.store.on('runAction', ({ call }) => void this.#run(call));
  }

  /** Another tab leads, and told its state: what is to run here begins. */
  mirrored(): void {
    for (const call of this.#runningIn(this.#parts.team()?.own)) void this.#run(call);
  }

  /** Nothing is begun once this is closed, nor here what runs in another tab; and what changes something by one client alone (CLIENT-12). */
  async #run(call: Call): Promise<void> {
    const { invocation_id: invocationId, risk, tab } = call;
    const { store, team, keeping, clock, handlers, wish, tell, isClosed } = this.#parts;
    if (isClosed() || (tab !== undefined && this.#begun.includes(invocationId))) return;
    if (tab !== undefined && tab !== team()?.own) {
      this.#watch(call, tab);
      return;
    }
    const { calls } = store.get().context;
    this.#begun = [...this.#begun.filter((id) => findCall(calls, id)), invocationId];
    const [here, sinceMs] = [team(), clock.nowMs()];
    // This tab led as it began, and was stopped meanwhile.
    const begun = tab === undefined ? undefined : here?.outcomes.get(invocationId);
    const isFirst = begun !== undefined || risk === 'read' || (await keeping.begin(invocationId));
    if (isClosed()) return;
    if (!isFirst) {
      wish({ type: 'actionTaken', invocationId });
      return;
    }
    // Its dialog may stop this tab, and whoever leads then knows that it runs here.
    here?.tell();
    const ending = begun ?? handlers.run(call);
    for (const id of here?.outcomes.keys() ?? []) if (findCall(calls, id) === undefined) here?.outcomes.delete(id);
    here?.outcomes.set(invocationId, ending);
    const outcome = await ending;
    const told = (): void => {
      if (!isClosed()) tell({ type: 'actionEnded', invocationId, outcome });
    };
    if (here === undefined) told();
    else here.whenCertain(sinceMs, told);
  }

  /** It runs in that tab, which sees it in the state that it mirrors, or here once that tab is gone. */
  #watch(call: Call, tab: string): void {
    const { invocation_id: invocationId, risk, timeout_ms: timeoutMs } = call;
    const { store, keeping, clock, team, isClosed } = this.#parts;
    const late = async (): Promise<void> => {
      const isThere = this.#watched.has(tab) && this.#runningIn(tab).some(({ invocation_id: id }) => id === invocationId);
      if (!isThere || isClosed()) return;
      // Told as not done in time, it begins nowhere any more; where that cannot be noted, nobody knows.
      const isOver = risk === 'read' || ((await keeping.begin(invocationId, true)) && (await keeping.begin(invocationId)));
      store.send({ type: 'actionEnded', invocationId, outcome: isOver ? { status: 'timeout' } : lostOutcome(call) });
    };
    // It may be this tab that slept, with what came of it still to be heard.
    clock.after(timeoutMs + ASLEEP_MS, () => team()?.whenCertain(0, () => void late()));
    if (this.#watched.has(tab)) return;
    this.#watched.add(tab);
    team()?.whenGone(tab, () => {
      this.#watched.delete(tab);
      for (const each of this.#runningIn(tab)) void this.#left(each);
    });
  }

  #runningIn(tab: string | undefined): readonly Call[] {
    return this.#parts.store.get().context.calls.filter((call) => call.phase === 'running' && call.tab !== undefined && call.tab === tab);
  }

  /** Its tab is gone: a read runs here. What changes something waits for the person, or nobody knows whether it was done. */
  async #left(call: Call): Promise<void> {
    const { invocation_id: invocationId } = call;
    const { store, keeping } = this.#parts;
    if (call.risk === 'read') await this.#run({ ...call, tab: undefined });
    else if (await keeping.begin(invocationId, true)) store.send({ type: 'cardRefused', invocationId, failure: TAB_GONE });
    else store.send({ type: 'actionEnded', invocationId, outcome: lostOutcome(call) });
  }
}
