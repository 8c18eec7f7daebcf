/** Bounds the pictures sent at once, by app and device: a few turns would keep loop and disk busy for all. Text never waits. */
import { ATTACHMENTS_PER_TURN_MAX, UPLOAD_MAX_BYTES } from '../../../protocol/limits.ts';

/** What one turn may show at the most: 80 MB. */
const TURN_MAX_BYTES = ATTACHMENTS_PER_TURN_MAX * UPLOAD_MAX_BYTES;
const LIMITS = {
  /** A device sends one such turn at a time, or several with less. */
  deviceMaxBytes: TURN_MAX_BYTES,
  /** An app's strangers leave half of the process's share to the others. */
  appMaxBytes: 2 * TURN_MAX_BYTES,
  /** Four at once keep a fast upstream busy; more would only make each of them slower. */
  processMaxBytes: 4 * TURN_MAX_BYTES,
  /** Turns of one app that may wait: each costs its stream and its text. */
  appWaitingMax: 32,
  processWaitingMax: 128,
  /** Half of the time that an upstream may be silent, so that a turn that waited can still be answered in time. */
  waitMaxMs: 15_000,
};

export interface Sender {
  readonly app: string;
  readonly device: string;
}

interface Waiter {
  readonly sender: Sender;
  readonly bytes: number;
  readonly timer: NodeJS.Timeout;
  admit(): void;
}

/** The outcome of a request for room: one of these is called once, or none when the request was withdrawn. */
export interface SendingOutcome {
  /** `leave` gives the room back; it may be called again. */
  admitted(leave: () => void): void;
  /** Too many wait, or no room came free in time. */
  refused(): void;
}

const nothing = () => {};

export class SendingBudget {
  readonly #limits: typeof LIMITS;
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiter>();
  readonly #sent = new Map<string, number>();
  #total = 0;

  constructor(limits: Partial<typeof LIMITS> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  get bytes(): number {
    return this.#total;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Asks for room for `bytes`. The returned function takes the request back, or gives the room back, and may be called again. */
  enter(sender: Sender, bytes: number, { admitted, refused }: SendingOutcome): () => void {
    if (this.#fits(sender, bytes) && this.#mayGoNext()) {
      const leave = this.#take(sender, bytes);
      admitted(leave);
      return leave;
    }
    if (!this.#mayWait(sender)) {
      refused();
      return nothing;
    }
    let leave = nothing;
    const waiter: Waiter = {
      sender,
      bytes,
      admit: () => {
        leave = this.#take(sender, bytes);
        admitted(leave);
      },
      timer: setTimeout(() => {
        this.#waiting.delete(waiter);
        refused();
        this.#letIn();
      }, this.#limits.waitMaxMs),
    };
    this.#waiting.add(waiter);
    return () => {
      clearTimeout(waiter.timer);
      if (this.#waiting.delete(waiter)) this.#letIn();
      leave();
    };
  }

  #mayWait({ app }: Sender): boolean {
    const { appWaitingMax, processWaitingMax } = this.#limits;
    const ofApp = [...this.#waiting].filter(({ sender }) => sender.app === app).length;
    return this.#waiting.size < processWaitingMax && ofApp < appWaitingMax;
  }

  /** False while a turn waits for the process's bound: small requests must not keep overtaking a large one. */
  #mayGoNext(): boolean {
    for (const { sender, bytes } of this.#waiting) if (this.#isWithinShares(sender, bytes)) return false;
    return true;
  }

  /** An unused share takes anything, so that what one message may attach always fits. */
  #isWithin(name: string, bytes: number, maxBytes: number): boolean {
    const sent = this.#sent.get(name) ?? 0;
    return sent === 0 || sent + bytes <= maxBytes;
  }

  #isWithinShares(sender: Sender, bytes: number): boolean {
    const [app, device] = namesOf(sender);
    return this.#isWithin(app, bytes, this.#limits.appMaxBytes) && this.#isWithin(device, bytes, this.#limits.deviceMaxBytes);
  }

  #fits(sender: Sender, bytes: number): boolean {
    const hasRoom = this.#total === 0 || this.#total + bytes <= this.#limits.processMaxBytes;
    return hasRoom && this.#isWithinShares(sender, bytes);
  }

  #add(name: string, bytes: number): void {
    const sent = (this.#sent.get(name) ?? 0) + bytes;
    if (sent > 0) this.#sent.set(name, sent);
    else this.#sent.delete(name);
  }

  #take(sender: Sender, bytes: number): () => void {
    const names = namesOf(sender);
    for (const name of names) this.#add(name, bytes);
    this.#total += bytes;
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      for (const name of names) this.#add(name, -bytes);
      this.#total -= bytes;
      this.#letIn();
    };
  }

  #letIn(): void {
    for (const waiter of this.#waiting) {
      const { sender, bytes, timer, admit } = waiter;
      if (!this.#isWithinShares(sender, bytes)) continue;
      if (!this.#fits(sender, bytes)) return;
      this.#waiting.delete(waiter);
      clearTimeout(timer);
      admit();
    }
  }
}

function namesOf({ app, device }: Sender): readonly [app: string, device: string] {
  return [app, `${app} ${device}`];
}
