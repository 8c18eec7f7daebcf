/** Questions of this node that wait for their answer, and what a question can come to beside it. */
import { ERROR_TABLE, type PlainRefusal, refusalFrom } from '../../../protocol/errors.ts';

/**
 * The node was not reached, or did not answer in time. Whether it heard the question is not known: what it asks for may have
 * happened. Whether the node lives is for `Members` to say.
 */
export class NodeUnreachable extends Error {
  readonly node: string;

  constructor(node: string, why: string) {
    super(`Node ${node} is not reachable: ${why}.`);
    this.name = 'NodeUnreachable';
    this.node = node;
  }
}

/**
 * The node is there, heard the question and failed at it: a bug, whose cause is in that node's log. No NodeUnreachable, since the
 * node still owns what it owned, so nobody should take it over because of this.
 */
export class NodeFailed extends Error {
  readonly node: string;

  constructor(node: string, kind: string) {
    super(`Node ${node} failed at ${kind}: see its log.`);
    this.name = 'NodeFailed';
    this.node = node;
  }
}

/** Questions that may wait at once. Each waits for less than a second, and a node opens far fewer turns in that time. */
const PENDING_MAX = 20_000;

interface Pending {
  readonly node: string;
  readonly kind: string;
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export class PendingAsks {
  readonly #timeoutMs: number;
  readonly #pending = new Map<number, Pending>();
  #id = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** `send` gets the question's number and how to say that nobody took it. What it throws is thrown. */
  open(node: string, kind: string, send: (id: number, undelivered: () => void) => void): Promise<unknown> {
    if (this.#pending.size >= PENDING_MAX) return Promise.reject(new NodeUnreachable(node, `${PENDING_MAX} questions wait already`));
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail(id, `no answer to ${kind} within ${this.#timeoutMs} ms`), this.#timeoutMs);
      this.#pending.set(id, { node, kind, resolve, reject, timer });
      try {
        send(id, () => this.#fail(id, 'nobody listens on its channel, or Redis is away'));
      } catch (error) {
        this.#take(id)?.reject(error as Error);
      }
    });
  }

  answered(id: number, from: string, body: unknown): void {
    this.#take(id, from)?.resolve(body);
  }

  refused(id: number, from: string, refusal: PlainRefusal): void {
    const ask = this.#take(id, from);
    // A node of another version may have a code that this one does not know.
    ask?.reject(Object.hasOwn(ERROR_TABLE, refusal.code) ? refusalFrom(refusal) : new NodeFailed(from, ask.kind));
  }

  failed(id: number, from: string): void {
    const ask = this.#take(id, from);
    ask?.reject(new NodeFailed(from, ask.kind));
  }

  /** Fails all that wait. */
  failAll(why: string): void {
    for (const id of [...this.#pending.keys()]) this.#fail(id, why);
  }

  #fail(id: number, why: string): void {
    const ask = this.#take(id);
    ask?.reject(new NodeUnreachable(ask.node, why));
  }

  /** Only the node that was asked may answer. */
  #take(id: number, from?: string): Pending | undefined {
    const ask = this.#pending.get(id);
    if (ask === undefined || (from !== undefined && from !== ask.node)) return undefined;
    clearTimeout(ask.timer);
    this.#pending.delete(id);
    return ask;
  }
}
