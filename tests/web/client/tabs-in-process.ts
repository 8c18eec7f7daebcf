/** Tabs within one process: one of a name leads, the next when it resigns; messages reach all others, as copies and later. */
import type { Tabs } from '../../../web/client/surroundings.ts';

export class TabsInProcess implements Tabs {
  readonly #candidates = new Map<string, (() => void)[]>();
  readonly #members = new Map<string, Set<(message: unknown) => void>>();

  elect(name: string, onLead: () => void): () => void {
    const candidates = this.#candidates.get(name) ?? [];
    this.#candidates.set(name, candidates);
    candidates.push(onLead);
    if (candidates.length === 1) queueMicrotask(onLead);
    return () => {
      const at = candidates.indexOf(onLead);
      if (at < 0) return;
      candidates.splice(at, 1);
      const [next] = candidates;
      if (at === 0 && next !== undefined) queueMicrotask(next);
    };
  }

  join(name: string, onMessage: (message: unknown) => void): { post(message: unknown): void; close(): void } {
    const members = this.#members.get(name) ?? new Set();
    this.#members.set(name, members);
    members.add(onMessage);
    return {
      post: (message) => {
        const copy = structuredClone(message);
        for (const member of members) if (member !== onMessage) queueMicrotask(() => members.has(member) && member(copy));
      },
      close: () => members.delete(onMessage),
    };
  }
}
