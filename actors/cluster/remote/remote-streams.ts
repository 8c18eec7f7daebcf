/**
 * The streams that this node reads from others: a number for each, what waits to be placed, and what is being read. Whatever
 * Redis or an owner takes away is noticed here and told to whom it concerns.
 */
import { refusalFrom } from '../../../protocol/errors.ts';
import type { Bus } from '../bus/bus.ts';
import type { Tells } from '../bus/messages.ts';
import type { Members } from '../nodes/members.ts';
import type { RemoteTurn } from './remote-turn.ts';

export type Placed = Tells['turnPlaced'];

/** The other node will not answer any more: look again who owns the conversation. */
export class StreamLost extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'StreamLost';
  }
}

interface Stream {
  readonly owner: string;
  remote: RemoteTurn | null;
  /** Makes the reader's end of a turn that was just placed; null once it was made. */
  place: ((placed: Placed) => void) | null;
  refuse: (error: Error) => void;
}

/** How often it is looked whether what waits can still be answered: a client is told within a second. */
const LOOK_MS = 250;

export class RemoteStreams {
  readonly #bus: Bus;
  readonly #streams = new Map<number, Stream>();
  readonly #timer: NodeJS.Timeout;
  #last = 0;

  constructor(bus: Bus, members: Pick<Members, 'onLost'>) {
    this.#bus = bus;
    bus.hear('turnPlaced', (placed) => this.#streams.get(placed.stream)?.place?.(placed));
    bus.hear('turnRefused', ({ stream, refusal }) => this.#streams.get(stream)?.refuse(refusalFrom(refusal)));
    bus.hear('frames', (frames, from) => {
      const stream = this.#streams.get(frames.stream);
      // Given up before it began, or what said so was lost.
      if (stream === undefined) bus.tell(from, 'unfollow', { reader: bus.self, stream: frames.stream });
      else stream.remote?.receive(frames);
    });
    bus.onReconnected(() => this.#interrupted());
    members.onLost((node) => this.#ownerLost(node));
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  get count(): number {
    return this.#streams.size;
  }

  /**
   * A number for a turn that `owner` is asked to open. `placed` resolves with what `make` made of it, at the moment it is
   * placed: its frames follow at once. It rejects with the owner's Refusal, or StreamLost.
   */
  expect(owner: string, make: (placed: Placed) => RemoteTurn): { stream: number; placed: Promise<{ placed: Placed; remote: RemoteTurn }> } {
    this.#last += 1;
    const stream = this.#last;
    const placed = new Promise<{ placed: Placed; remote: RemoteTurn }>((resolve, reject) => {
      const entry: Stream = {
        owner,
        remote: null,
        place: (told) => {
          entry.remote = make(told);
          entry.place = null;
          resolve({ placed: told, remote: entry.remote });
        },
        refuse: (error) => {
          if (entry.place === null) return;
          this.#streams.delete(stream);
          reject(error);
        },
      };
      this.#streams.set(stream, entry);
    });
    // Whoever asked may have been told of the failure in another way already.
    placed.catch(() => {});
    return { stream, placed };
  }

  /** A number for a turn that runs at `owner`, read by what `make` makes. */
  follow(owner: string, make: (stream: number) => RemoteTurn): { stream: number; remote: RemoteTurn } {
    this.#last += 1;
    const stream = this.#last;
    const remote = make(stream);
    this.#streams.set(stream, { owner, remote, place: null, refuse: () => {} });
    return { stream, remote };
  }

  /** Nobody reads it any more; its owner is told. */
  leave(stream: number): void {
    const entry = this.#streams.get(stream);
    if (entry === undefined) return;
    this.#streams.delete(stream);
    this.#bus.tell(entry.owner, 'unfollow', { reader: this.#bus.self, stream });
  }

  /** Its owner does not feed it. A frame that comes all the same is answered with `unfollow`. */
  forget(stream: number): void {
    this.#streams.delete(stream);
  }

  #interrupted(): void {
    for (const { remote, refuse } of [...this.#streams.values()]) {
      if (remote === null) refuse(new StreamLost('Redis was away while the turn was to be placed'));
      else remote.interrupted();
    }
  }

  #ownerLost(node: string): void {
    for (const { owner, remote, refuse } of [...this.#streams.values()]) {
      if (owner !== node) continue;
      if (remote === null) refuse(new StreamLost(`node ${node} is gone`));
      else remote.ownerLost();
    }
  }

  #look(): void {
    if (this.#bus.connected) return;
    for (const { remote, refuse } of [...this.#streams.values()]) {
      if (remote === null) refuse(new StreamLost('Redis is away'));
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
