/** Owns which conversation is open: its change by people, persons and other tabs, and what is taken up of an earlier page (CLIENT-13, CLIENT-21). */
import type { Conversation } from '../conversation/conversation.ts';
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
  readonly resumes: boolean;
  readonly make: (team: () => TabTeam | undefined, conversationId?: string) => Conversation;
  readonly ready: () => Promise<void>;
}

/** `isAnothers`: who was there before is gone, and nothing that they said, or began to, is for whoever comes. */
export type ConversationListener = (conversation: Conversation, isAnothers: boolean) => void;

export class OpenConversation {
  readonly #place: ConversationPlace;
  readonly #listeners = new Set<ConversationListener>();
  #current: Conversation;
  #team: TabTeam | undefined;
  #resumes: boolean;
  #isClosed = false;

  constructor(place: ConversationPlace) {
    this.#place = place;
    this.#resumes = place.resumes;
    this.#current = this.#make();
  }

  get current(): Conversation {
    return this.#current;
  }

  onChange(listener: ConversationListener): () => void {
    const told = this.#place.log.contain(listener);
    this.#listeners.add(told);
    return () => this.#listeners.delete(told);
  }

  open(conversationId: string | undefined): void {
    if (this.#team?.isLeading() === false) this.#team.forwardOpen(conversationId);
    else this.#open(conversationId);
  }

  /** A person is gone: at once nothing of theirs is shown or sent, and nobody in particular speaks here, to no other tab. */
  leave(): Promise<void> {
    this.suspend();
    this.#replace(undefined, true);
    return this.#place.keeping.forget();
  }

  /** Whose it is is known now. What nobody in particular said before stays open. */
  async settle(): Promise<void> {
    this.joinTabs();
    if (this.#team === undefined) await this.resume();
  }

  /** The page is put away: others go on. */
  suspend(): void {
    this.#current.close();
    this.#team?.close();
    this.#team = undefined;
  }

  /** The page is there again as it was, or another one leads in its place: it begins as after a reload. */
  async again(): Promise<void> {
    this.#resumes = true;
    this.#replace(undefined);
    await this.settle();
  }

  /** Tabs of one person form a team. Without tabs this client goes on by itself. */
  joinTabs(): void {
    const { surroundings, name, person, ready } = this.#place;
    const { tabs } = surroundings;
    const team = `${name}:${person.id ?? ''}`;
    if (tabs === undefined || this.#isClosed || this.#team?.name === team) return;
    this.#team?.close();
    this.#team = new TabTeam(tabs, team, surroundings, {
      lead: () => ready().then(() => this.resume()),
      lost: (told) => {
        const left = this.#current.store.get().context;
        void this.again();
        this.#current.sayAgain(left, told);
      },
      mirror: (state) => this.#current.mirror(state),
      // Streams and pauses are woken as well, which no state knows of.
      fulfil: (wish) => (wish.type === 'wake' ? this.#current.wake() : this.#current.store.send(wish)),
      open: (conversationId) => this.#open(conversationId),
      state: () => this.#current.store.get().context,
    });
  }

  /** Takes up what an earlier page left, or what this tab mirrored. Where something was said already, that goes on. */
  async resume(): Promise<void> {
    const { keeping, person, surroundings } = this.#place;
    const conversation = this.#current;
    const own = (): KeptConversation | undefined => {
      const { conversationId, turns, calls } = conversation.store.get().context;
      return conversationId === undefined && turns.length === 0 ? undefined : { conversationId, turns, calls };
    };
    const mirrored = own();
    const left = mirrored ?? (this.#resumes ? await keeping.read(person.id) : undefined);
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

  #replace(conversationId: string | undefined, isAnothers = false): Conversation {
    this.#current.close();
    this.#current = this.#make(conversationId);
    if (this.#isClosed) this.#current.close();
    this.#team?.changed();
    this.tell(isAnothers);
    return this.#current;
  }

  tell(isAnothers: boolean): void {
    for (const listener of this.#listeners) listener(this.#current, isAnothers);
  }

  #make(conversationId?: string): Conversation {
    const conversation = this.#place.make(() => this.#team, conversationId);
    conversation.store.subscribe(() => this.#team?.changed());
    return conversation;
  }
}
