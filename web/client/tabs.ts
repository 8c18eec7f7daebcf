/**
 * Several tabs of one app and person show one conversation: one of them leads and speaks with the service, the others mirror its state
 * and have it do what people want (CLIENT-21). When it is gone another one leads, and goes on with what was kept, as after a reload.
 * Actions run where the person asked (CLIENT-32): each tab sees in that state what is to run in it.
 */
import type { ExtractEvents } from '@xstate/store';
import type { ActionOutcome } from './conversation/action-handlers.ts';
import { findCall } from './conversation/calls.ts';
import { isOfAnother } from './conversation/changes.ts';
import type { ConversationEvents, ConversationState } from './conversation/state.ts';
import type { TurnState } from './conversation/turn.ts';
import type { Clock, Surroundings, Tabs } from './surroundings.ts';

/** The eye takes it for at once, and a state is copied for every tab. */
const TELL_EVERY_MS = 50;
/** Whoever leads tells its state at once after it was asked for something. One whose page has stopped, as behind a dialog, does not (CLIENT-35). */
const SILENT_MS = 10_000;
/** Wishes and outcomes that no leader took yet. People are not that fast. */
const WISHES_MAX = 20;

type Wish = ExtractEvents<ConversationEvents>;

type TabMessage =
  | { readonly kind: 'hello' }
  | { readonly kind: 'state'; readonly state: ConversationState }
  | { readonly kind: 'wish'; readonly wish: Wish; readonly atMs: number }
  /** Another conversation is to be opened; null: a new one. */
  | { readonly kind: 'open'; readonly conversationId: string | null; readonly atMs: number };

export interface TabDuties {
  /** This tab is to lead: take up what is there. Resolves when it can. */
  lead(): Promise<void>;
  /** Another tab leads in its place: this one was not heard of in time. It is still the same tab, and mirrors from now on. `told`: what that one knows. */
  lost(told: readonly TurnState[]): void;
  mirror(state: ConversationState): void;
  /** A wish of another tab, or of this one from before it led. */
  fulfil(wish: Wish): void;
  open(conversationId: string | undefined): void;
  state(): ConversationState;
}

function isTaken(wish: Wish, state: ConversationState): boolean {
  const { turns, calls } = state;
  if (wish.type === 'send') return isOfAnother(wish, state) || turns.some(({ turnId }) => turnId === wish.turnId);
  return wish.type !== 'actionEnded' || findCall(calls, wish.invocationId)?.phase !== 'running';
}

export class TabTeam {
  readonly name: string;
  /** This tab, as the others know it. */
  readonly own: string;
  /** What came of the actions that began here, by call: told once, also where the tab led meanwhile and does no more. */
  readonly outcomes = new Map<string, Promise<ActionOutcome>>();
  readonly #tabs: Tabs;
  readonly #clock: Clock;
  readonly #duties: TabDuties;
  readonly #channel: ReturnType<Tabs['join']>;
  readonly #leave: () => void;
  #resign: () => void = () => {};
  /** Other tabs that are waited for, and those that are gone. */
  readonly #watched = new Map<string, (() => void)[]>();
  readonly #gone = new Set<string>();
  #isElected = false;
  #isLeading = false;
  #stopWaiting: (() => void) | undefined;
  #isTelling = false;
  #told: readonly TurnState[] = [];
  #isClosed = false;
  /** Not seen in a state of the leader's yet. */
  #wishes: readonly Wish[] = [];
  /** What another conversation was asked for, of a leader that was not heard of since. */
  #opening: { readonly conversationId: string | undefined } | undefined;

  constructor(tabs: Tabs, name: string, { clock, mintUuid }: Pick<Surroundings, 'clock' | 'mintUuid'>, duties: TabDuties) {
    this.name = name;
    this.own = mintUuid();
    this.#tabs = tabs;
    this.#clock = clock;
    this.#duties = duties;
    this.#channel = tabs.join(name, (message) => this.#heard((message ?? {}) as TabMessage));
    this.#stand(false);
    this.#leave = tabs.elect(`${name}:${this.own}`, () => {});
    this.#post({ kind: 'hello' });
  }

  isLeading(): boolean {
    return this.#isLeading;
  }

  forward(wish: Wish): void {
    // Only messages and outcomes are worth keeping: whoever pressed another button sees that nothing happened.
    if ((wish.type === 'send' || wish.type === 'actionEnded') && this.#wishes.length < WISHES_MAX) this.#wishes = [...this.#wishes, wish];
    this.#send(wish);
  }

  /** Whether that tab is known to be gone. It is looked for from the first time on. */
  isGone(tab: string): boolean {
    if (!this.#gone.has(tab) && !this.#watched.has(tab)) this.whenGone(tab, () => {});
    return this.#gone.has(tab);
  }

  /** Calls `run` once that tab is not there: it leads, alone, under its own name. That is waited for once, however many ask. */
  whenGone(tab: string, run: () => void): void {
    const waiting = this.#watched.get(tab);
    if (waiting !== undefined) {
      waiting.push(run);
      return;
    }
    const runs = [run];
    this.#watched.set(tab, runs);
    const resign = this.#tabs.elect(`${this.name}:${tab}`, () => {
      resign();
      this.#watched.delete(tab);
      this.#gone.add(tab);
      for (const each of runs) each();
    });
  }

  /** The leading tab opens another conversation for all. */
  forwardOpen(conversationId: string | undefined): void {
    this.#opening = { conversationId };
    this.#post({ kind: 'open', conversationId: conversationId ?? null, atMs: this.#clock.nowMs() });
    this.#wait();
  }

  /** Does it. A tab that was stopped since then, if only for as long as half of what others wait, hears first whether it leads still. */
  whenCertain(sinceMs: number, run: () => void): void {
    if (this.#clock.nowMs() - sinceMs > SILENT_MS / 2) this.#clock.after(TELL_EVERY_MS, run);
    else run();
  }

  changed(): void {
    if (!this.#isLeading || this.#isTelling || this.#isClosed) return;
    this.#isTelling = true;
    const sinceMs = this.#clock.nowMs();
    const tell = (): void => {
      this.#isTelling = false;
      this.tell();
    };
    this.#clock.after(TELL_EVERY_MS, () => this.whenCertain(sinceMs, tell));
  }

  /** At once: this tab may stop next. */
  tell(): void {
    if (!this.#isLeading || this.#isClosed) return;
    const state = this.#duties.state();
    this.#told = state.turns;
    this.#post({ kind: 'state', state });
  }

  close(): void {
    this.#isClosed = true;
    this.#stopWaiting?.();
    this.#resign();
    this.#leave();
    this.#channel.close();
  }

  /** Leads once it is its turn, or at once, in the place of another one. */
  #stand(isSeizing: boolean): void {
    const lead = (): void => void this.#lead();
    const lost = (): void => this.#lost();
    this.#resign();
    this.#resign = this.#tabs.elect(this.name, lead, lost, isSeizing);
  }

  #lost(): void {
    if (this.#isClosed) return;
    this.#isElected = false;
    this.#isLeading = false;
    this.#stand(false);
    this.#duties.lost(this.#told);
    this.#post({ kind: 'hello' });
  }

  #send(wish: Wish): void {
    this.#post({ kind: 'wish', wish, atMs: this.#clock.nowMs() });
    this.#wait();
  }

  /** Where no state comes in time, this tab leads. */
  #wait(): void {
    this.#stopWaiting ??= this.#clock.after(SILENT_MS, () => {
      this.#stopWaiting = undefined;
      if (!this.#isClosed && !this.#isElected) this.#stand(true);
    });
  }

  async #lead(): Promise<void> {
    this.#isElected = true;
    await this.#duties.lead();
    if (this.#isClosed || !this.#isElected) return;
    this.#isLeading = true;
    this.changed();
    const [opening, wishes] = [this.#opening, this.#wishes];
    this.#opening = undefined;
    this.#wishes = [];
    // First, so that what was said and not heard is said there.
    if (opening !== undefined) this.#duties.open(opening.conversationId);
    // One that the leader before took is known by its turn, and changes nothing.
    for (const wish of wishes) this.#duties.fulfil(wish);
  }

  /** Tabs of one origin speak here, of two releases while an older one is open; a kind of message that is not known is passed over. */
  #heard(message: TabMessage): void {
    if (this.#isClosed) return;
    if (this.#isLeading) {
      if (message.kind === 'hello') this.changed();
      else if (message.kind === 'wish') this.#fulfil(message.atMs, () => this.#duties.fulfil(message.wish));
      else if (message.kind === 'open') this.#fulfil(message.atMs, () => this.#duties.open(message.conversationId ?? undefined));
      return;
    }
    // One that leads no more may tell its state while this one is to lead.
    if (message.kind !== 'state' || this.#isElected) return;
    const { state } = message;
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.#opening = undefined;
    this.#wishes = this.#wishes.filter((wish) => !isTaken(wish, state));
    // Said before there was a leader to hear it.
    for (const wish of this.#wishes) this.#send(wish);
    this.#duties.mirror(state);
  }

  #fulfil(atMs: number, run: () => void): void {
    this.whenCertain(atMs, () => {
      if (this.#isClosed || !this.#isLeading) return;
      run();
      // Also where it changed nothing: whoever wished waits for a state.
      this.changed();
    });
  }

  #post(message: TabMessage): void {
    this.#channel.post(message);
  }
}
