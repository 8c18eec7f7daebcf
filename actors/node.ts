/** The state of this process that `/readyz`, `/metrics`, other nodes and the drain select from. Not for what changes with every delta. */
import { createStore } from '@xstate/store';

export type NodeLife =
  | { readonly phase: 'starting' }
  | { readonly phase: 'serving'; readonly url: string }
  | { readonly phase: 'draining'; readonly url: string }
  | { readonly phase: 'stopped' };

export interface NodeCounts {
  readonly conversations: number;
  readonly sessions: number;
  readonly streams: number;
}

/** What never changes: `id` is this start's own, `<name>~<8 characters>`. */
export interface NodeIdentity {
  readonly id: string;
  /** NODE_ID, which outlives a restart. */
  readonly name: string;
  /** CELL_ID; null: there are no cells. */
  readonly cell: string | null;
  readonly startedAtMs: number;
}

export interface NodeContext extends NodeIdentity, NodeCounts {
  readonly life: NodeLife;
  /** Null: this process needs no Redis. */
  readonly redis: 'connected' | 'away' | null;
}

export function createNode(identity: NodeIdentity, redis: NodeContext['redis'] = null) {
  const context: NodeContext = { ...identity, life: { phase: 'starting' }, redis, conversations: 0, sessions: 0, streams: 0 };
  return createStore({
    context,
    on: {
      serve: (now, { url }: { url: string }): NodeContext =>
        now.life.phase === 'starting' ? { ...now, life: { phase: 'serving', url } } : now,
      /** Before it serves there is nothing to drain. */
      drain: (now): NodeContext => (now.life.phase === 'serving' ? { ...now, life: { phase: 'draining', url: now.life.url } } : now),
      stop: (now): NodeContext => ({ ...now, life: { phase: 'stopped' } }),
      redisChanged: (now, { isConnected }: { isConnected: boolean }): NodeContext => ({
        ...now,
        redis: isConnected ? 'connected' : 'away',
      }),
      /** How many there are now, of what changed. */
      counted: (now, { counts }: { counts: Partial<NodeCounts> }): NodeContext => ({ ...now, ...counts }),
    },
  });
}

export type NodeStore = ReturnType<typeof createNode>;

export function isEnding(node: NodeStore): boolean {
  const { phase } = node.get().context.life;
  return phase === 'draining' || phase === 'stopped';
}

/** True as soon as `isSo` holds; false if it does not within `timeMs`. */
export function heldWithin(node: NodeStore, isSo: (now: NodeContext) => boolean, timeMs: number): Promise<boolean> {
  if (isSo(node.get().context)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const end = (value: boolean) => {
      clearTimeout(timer);
      subscription.unsubscribe();
      resolve(value);
    };
    const timer = setTimeout(() => end(false), timeMs);
    const subscription = node.select(isSo).subscribe((holds) => holds && end(true));
  });
}
