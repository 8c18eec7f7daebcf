/** Keeps what of a conversation must outlive a reload: its id, turns that are not over, calls that are open. Bounded, and never in the way. */
import { alone } from '../app/device.ts';
import { jsonText, parsedJson } from '../json.ts';
import type { Log } from '../log.ts';
import type { KeptValues, Tabs } from '../surroundings.ts';
import { isLeft } from './calls.ts';
import type { ConversationState, KeptConversation } from './state.ts';
import { isBusy, type TurnState } from './turn.ts';

/** What is said of whom: the conversation of a person is not shown to the next one. */
interface KeptRecord {
  readonly v: 1;
  readonly person: string | null;
  readonly conversation: KeptConversation;
}

/** In UTF-16 units. Browsers keep some megabytes for a whole site. A longer answer is told again from its start. */
const KEPT_MAX_CHARS = 256 * 1024;

/** Writes of half an hour: a card does not wait longer, and people do not agree to more. */
const BEGUN_MAX = 100;

function isRecord(value: unknown): value is KeptRecord {
  const record = value as KeptRecord | null | undefined;
  const conversation = record?.conversation;
  return record?.v === 1 && Array.isArray(conversation?.turns) && Array.isArray(conversation?.calls);
}

/** Turns that the service may not know yet, or that somebody may still ask for again. */
function unfinished({ turns }: ConversationState): readonly TurnState[] {
  return turns.filter((turn, at) => isBusy(turn) || turn.phase === 'waiting' || (turn.phase === 'failed' && at === turns.length - 1));
}

/** The text that is kept for this state by the tab `own`. Without blocks where it would be too long; undefined where even that is. */
function written(state: ConversationState, person: string | null, own: string | undefined): string | undefined {
  const turns = unfinished(state);
  // A page that is loaded again goes on in the place of the one before, but not of another tab, nor of one that was gone before it.
  const calls = state.calls
    .filter(({ phase }) => phase !== 'settled')
    .map(({ tab, ...call }) => (tab !== own || isLeft(call) ? { ...call, tab } : call));
  const textOf = (kept: readonly TurnState[]): string => {
    const record: KeptRecord = { v: 1, person, conversation: { conversationId: state.conversationId, turns: kept, calls } };
    return jsonText(record);
  };
  const whole = textOf(turns);
  if (whole.length <= KEPT_MAX_CHARS) return whole;
  const short = textOf(turns.map((turn) => ({ ...turn, blocks: [], lastSeq: -1 })));
  return short.length <= KEPT_MAX_CHARS ? short : undefined;
}

export class Keeping {
  readonly #kept: KeptValues;
  readonly #name: string;
  readonly #log: Log;
  readonly #tabs: Tabs | undefined;
  #beginning: Promise<unknown> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();
  #next: (() => Promise<void>) | undefined;

  constructor(kept: KeptValues, name: string, log: Log, tabs: Tabs | undefined) {
    this.#kept = kept;
    this.#name = name;
    this.#log = log;
    this.#tabs = tabs;
  }

  /** What is kept of this person's conversation; undefined when there is none, or another person's. */
  async read(person: string | null): Promise<KeptConversation | undefined> {
    try {
      const text = await this.#kept.read(this.#name);
      const record = text === null ? undefined : parsedJson(text);
      return isRecord(record) && record.person === person ? record.conversation : undefined;
    } catch (error) {
      this.#log.say('warn', 'storage_error', { error });
      return undefined;
    }
  }

  /** Writes the state as it is when all that happens now has happened. States in between are passed over. */
  keep(state: () => ConversationState, person: string | null, own: string | undefined): void {
    this.#plan(async () => {
      const text = written(state(), person, own);
      if (text !== undefined) await this.#kept.write(this.#name, text);
    });
  }

  /** Whether a handler that changes something may begin: true once, of all clients that keep their values here. `isAsking`: it does not yet. */
  begin(invocationId: string, isAsking = false): Promise<boolean> {
    const name = `${this.#name}:begun`;
    const begun = this.#beginning.then(() => alone(this.#tabs, name, () => this.#begin(name, invocationId, isAsking)));
    this.#beginning = begun;
    return begun;
  }

  async #begin(name: string, invocationId: string, isAsking: boolean): Promise<boolean> {
    try {
      const begun = parsedJson((await this.#kept.read(name)) ?? '[]');
      const known: readonly unknown[] = Array.isArray(begun) ? begun : [];
      if (known.includes(invocationId)) return false;
      // Whoever asks writes as well: where nothing can be noted it may have begun.
      await this.#kept.write(name, jsonText(isAsking ? known : [...known.slice(1 - BEGUN_MAX), invocationId]));
      return true;
    } catch (error) {
      this.#log.say('warn', 'storage_error', { error });
      return !isAsking;
    }
  }

  /** Nothing is kept from now on, until `keep`. */
  async forget(): Promise<void> {
    this.#plan(() => this.#kept.remove(this.#name));
    await this.#writing;
  }

  async settled(): Promise<void> {
    await this.#writing;
  }

  /** The last of several pieces of work that wait is done: it makes the others needless. */
  #plan(work: () => Promise<void>): void {
    const isPlanned = this.#next !== undefined;
    this.#next = work;
    if (isPlanned) return;
    this.#writing = this.#writing.then(() => {
      const next = this.#next;
      this.#next = undefined;
      return next === undefined ? undefined : this.#safely(next);
    });
  }

  async #safely(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#log.say('warn', 'storage_error', { error });
    }
  }
}
