/** Tabs within one process: one of a name leads, the next when it resigns, or one that takes its place; messages reach all others, as copies and later. */
import type { Tabs } from '../../../web/client/surroundings.ts';

interface Candidate {
  readonly onLead: () => void;
  readonly onLost: () => void;
}

export class TabsInProcess implements Tabs {
  readonly #candidates = new Map<string, Candidate[]>();
  readonly #members = new Map<string, Set<(message: unknown) => void>>();

  elect(name: string, onLead: () => void, onLost: () => void = () => {}, isSeizing = false): () => void {
    const candidates = this.#candidates.get(name) ?? [];
    this.#candidates.set(name, candidates);
    const candidate = { onLead, onLost };
    if (isSeizing) {
      const [before] = candidates.splice(0, 1, candidate);
      if (before !== undefined) queueMicrotask(before.onLost);
    } else candidates.push(candidate);
    if (candidates[0] === candidate) queueMicrotask(onLead);
    return () => {
      const at = candidates.indexOf(candidate);
      if (at < 0) return;
      candidates.splice(at, 1);
      const [next] = candidates;
      if (at === 0 && next !== undefined) queueMicrotask(next.onLead);
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
