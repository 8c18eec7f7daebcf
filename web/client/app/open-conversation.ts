/** Owns which conversation is open: its change by people, persons and other tabs, and what is taken up of an earlier page (CLIENT-13, CLIENT-21). */
import type { Conversation, ConversationTabs } from '../conversation/conversation.ts';
import type { Keeping } from '../conversation/keeping.ts';
import type { KeptConversation } from '../conversation/state.ts';
import type { Log } from '../log.ts';
import type { Surroundings } from '../surroundings.ts';
import { TabTeam } from '../tabs.ts';
import type { Person } from './person.ts';

export interface ConversationPlace {
  readonly surroundings: Surroundings;
  readonly log: Log;
  /** Tabs of this name and of one person show one conversation. */
  readonly name: string;
  readonly person: Person;
  readonly keeping: Keeping;
  /** Whether the conversation of an earlier page is gone on with. */
  readonly resumes: boolean;
  readonly make: (tabs: ConversationTabs | undefined, conversationId?: string) => Conversation;
  /** Resolves when requests can be sent. */
  readonly ready: () => Promise<void>;
}

export class OpenConversation {
  readonly #place: ConversationPlace;
  readonly #listeners = new Set<(conversation: Conversation) => void>();
  #current: Conversation;
  #team: TabTeam | undefined;
  #isClosed = false;

  constructor(place: ConversationPlace) {
    this.#place = place;
    this.#current = this.#make();
  }

  get current(): Conversation {
    return this.#current;
  }

  /** Tells of every other conversation that is opened. Returns what ends it. */
  onChange(listener: (conversation: Conversation) => void): () => void {
    const told = this.#place.log.contain(listener);
    this.#listeners.add(told);
    return () => this.#listeners.delete(told);
  }

  /** Opens a conversation of before, or without an id a new one: in the tab that leads, and so in all. */
  open(conversationId: string | undefined): void {
    if (this.#team?.isLeading() === false) this.#team.forwardOpen(conversationId);
    else this.#open(conversationId);
  }

  /** Somebody else is signed in, or nobody. What nobody in particular said before stays open. */
  async personChanged(before: string | null): Promise<void> {
    const { person, keeping, surroundings } = this.#place;
    if (person.id === before) return;
    if (before !== null) {
      await keeping.forget();
      this.#replace(undefined);
    } else if (surroundings.tabs === undefined) await this.resume();
    this.joinTabs();
  }

  /** Tabs of one person form a team. Without tabs this client goes on by itself. */
  joinTabs(): void {
    const { surroundings, name, person, ready } = this.#place;
    const { tabs, clock } = surroundings;
    this.#team?.close();
    if (tabs === undefined) return;
    this.#team = new TabTeam(tabs, `${name}:${person.id ?? ''}`, clock, {
      lead: () => ready().then(() => this.resume()),
      mirror: (state) => this.#current.store.send({ type: 'mirrored', state }),
      // Streams and pauses are woken as well, which no state knows of.
      fulfil: (wish) => (wish.type === 'wake' ? this.#current.wake() : this.#current.store.send(wish)),
      open: (conversationId) => this.#open(conversationId),
      state: () => this.#current.store.get().context,
    });
  }

  /**
   * Takes up what an earlier page left, or what this tab mirrored of the one that led before it. Whoever has said something already goes
   * on with that.
   */
  async resume(): Promise<void> {
    const { keeping, person, surroundings, resumes } = this.#place;
    const conversation = this.#current;
    const own = (): KeptConversation | undefined => {
      const { conversationId, turns, calls } = conversation.store.get().context;
      return conversationId === undefined && turns.length === 0 ? undefined : { conversationId, turns, calls };
    };
    const mirrored = own();
    const left = mirrored ?? (resumes ? await keeping.read(person.id) : undefined);
    if (left === undefined || this.#current !== conversation || this.#isClosed) return;
    if (surroundings.tabs !== undefined || own() === undefined) void conversation.resume(left);
  }

  close(): void {
    this.#isClosed = true;
    this.#current.close();
    this.#team?.close();
  }

  #open(conversationId: string | undefined): void {
    if (conversationId === undefined) void this.#place.keeping.forget();
    void this.#replace(conversationId).readNewest();
  }

  #replace(conversationId: string | undefined): Conversation {
    this.#current.close();
    this.#current = this.#make(conversationId);
    this.#team?.changed();
    for (const listener of this.#listeners) listener(this.#current);
    return this.#current;
  }

  #make(conversationId?: string): Conversation {
    const tabs: ConversationTabs = {
      // Before there is a team nobody leads.
      isLeading: () => this.#team?.isLeading() === true,
      forward: (wish) => this.#team?.forward(wish),
    };
    const conversation = this.#place.make(this.#place.surroundings.tabs === undefined ? undefined : tabs, conversationId);
    conversation.store.subscribe(() => this.#team?.changed());
    return conversation;
  }
}
