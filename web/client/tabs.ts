/**
 * Several tabs of one app and person show one conversation: one of them leads and speaks with the service, the others mirror its state
 * and have it do what people want (CLIENT-21). When it is gone another one leads, and goes on with what was kept, as after a reload.
 */
import type { ExtractEvents } from '@xstate/store';
import type { ConversationTabs } from './conversation/conversation.ts';
import type { ConversationEvents, ConversationState } from './conversation/state.ts';
import type { Clock, Tabs } from './surroundings.ts';

/** The eye takes it for at once, and a state is copied for every tab. */
const TELL_EVERY_MS = 50;
/** Wishes that no leader took yet. People are not that fast. */
const WISHES_MAX = 20;

type Wish = ExtractEvents<ConversationEvents>;

type TabMessage =
  | { readonly kind: 'hello' }
  | { readonly kind: 'state'; readonly state: ConversationState }
  | { readonly kind: 'wish'; readonly wish: Wish }
  /** Another conversation is to be opened; null: a new one. */
  | { readonly kind: 'open'; readonly conversationId: string | null };

export interface TabDuties {
  /** This tab is to lead: take up what is there. Resolves when it can. */
  lead(): Promise<void>;
  mirror(state: ConversationState): void;
  /** A wish of another tab, or of this one from before it led. */
  fulfil(wish: Wish): void;
  open(conversationId: string | undefined): void;
  state(): ConversationState;
}

function messageOf(value: unknown): TabMessage | undefined {
  const { kind } = (value ?? {}) as { readonly kind?: unknown };
  // Tabs of one origin and one version speak here; another version's message is passed over.
  return kind === 'hello' || kind === 'state' || kind === 'wish' || kind === 'open' ? (value as TabMessage) : undefined;
}

export class TabTeam implements ConversationTabs {
  readonly name: string;
  readonly #clock: Clock;
  readonly #duties: TabDuties;
  readonly #channel: ReturnType<Tabs['join']>;
  readonly #resign: () => void;
  #isLeading = false;
  #isTelling = false;
  #isClosed = false;
  /** Not seen in a state of the leader's yet. */
  #wishes: readonly Wish[] = [];

  constructor(tabs: Tabs, name: string, clock: Clock, duties: TabDuties) {
    this.name = name;
    this.#clock = clock;
    this.#duties = duties;
    this.#channel = tabs.join(name, (message) => this.#heard(messageOf(message)));
    this.#resign = tabs.elect(name, () => void this.#lead());
    this.#post({ kind: 'hello' });
  }

  isLeading(): boolean {
    return this.#isLeading;
  }

  forward(wish: Wish): void {
    // Only messages are worth keeping: whoever pressed another button sees that nothing happened.
    if (wish.type === 'send' && this.#wishes.length < WISHES_MAX) this.#wishes = [...this.#wishes, wish];
    this.#post({ kind: 'wish', wish });
  }

  /** The leading tab opens another conversation for all. */
  forwardOpen(conversationId: string | undefined): void {
    this.#post({ kind: 'open', conversationId: conversationId ?? null });
  }

  changed(): void {
    if (!this.#isLeading || this.#isTelling || this.#isClosed) return;
    this.#isTelling = true;
    this.#clock.after(TELL_EVERY_MS, () => {
      this.#isTelling = false;
      if (!this.#isClosed) this.#post({ kind: 'state', state: this.#duties.state() });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#resign();
    this.#channel.close();
  }

  async #lead(): Promise<void> {
    await this.#duties.lead();
    if (this.#isClosed) return;
    this.#isLeading = true;
    this.changed();
    const wishes = this.#wishes;
    this.#wishes = [];
    // One that the leader before took is known by its turn, and changes nothing.
    for (const wish of wishes) this.#duties.fulfil(wish);
  }

  #heard(message: TabMessage | undefined): void {
    if (message === undefined || this.#isClosed) return;
    if (this.#isLeading) {
      if (message.kind === 'hello') this.changed();
      else if (message.kind === 'wish') this.#duties.fulfil(message.wish);
      else if (message.kind === 'open') this.#duties.open(message.conversationId ?? undefined);
      return;
    }
    if (message.kind !== 'state') return;
    const { state } = message;
    const isTaken = (wish: Wish): boolean => wish.type !== 'send' || state.turns.some(({ turnId }) => turnId === wish.turnId);
    const isLost = this.#wishes.length > 0 && this.#wishes.some((wish) => !isTaken(wish));
    this.#wishes = this.#wishes.filter((wish) => !isTaken(wish));
    // Said before there was a leader to hear it.
    if (isLost) for (const wish of this.#wishes) this.#post({ kind: 'wish', wish });
    this.#duties.mirror(state);
  }

  #post(message: TabMessage): void {
    this.#channel.post(message);
  }
}
