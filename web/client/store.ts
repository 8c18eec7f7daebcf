/**
 * State that others watch, changed by pure transitions. It is called as a store of `@xstate/store`, and has what clients call of one: every
 * page loads it, and that one is six times as large.
 */

type Named = { readonly [type: string]: object };

/** Events, or effects, as they are sent: each with its name as `type`. */
export type ExtractEvents<Events extends Named> = { [K in keyof Events & string]: { readonly type: K } & Events[K] }[keyof Events & string];

/** Takes effects, in the order in which they are to be performed. */
export interface EnqueueObject<Effects extends Named> {
  readonly emit: { readonly [K in keyof Effects & string]: (...effect: object extends Effects[K] ? [Effects[K]?] : [Effects[K]]) => void };
}

interface Snapshot<Context> {
  readonly context: Context;
}

export interface Store<Context, Events extends Named, Effects extends Named = Record<never, never>> {
  get(): Snapshot<Context>;
  getSnapshot(): Snapshot<Context>;
  /** Tells of every change. */
  subscribe(listener: (snapshot: Snapshot<Context>) => void): { unsubscribe(): void };
  send(event: ExtractEvents<Events>): void;
  /** Performs the effects of this name. */
  on<Name extends keyof Effects & string>(name: Name, perform: (effect: Effects[Name]) => void): void;
  /** What an event would do. */
  transition(snapshot: Snapshot<Context>, event: ExtractEvents<Events>): [Snapshot<Context>, ExtractEvents<Effects>[]];
}

export type Transitions<Context, Events extends Named, Effects extends Named> = {
  readonly [K in keyof Events & string]: (context: Context, event: { type: K } & Events[K], enqueue: EnqueueObject<Effects>) => Context;
};

type Transition = (context: unknown, event: object, enqueue: EnqueueObject<Named>) => unknown;

/** A store of these transitions. Whoever watches is told of a change before its effects are performed. */
export function createStoreOf<Context, Events extends Named, Effects extends Named>(
  context: Context,
  on: Transitions<Context, Events, Effects>,
): Store<Context, Events, Effects> {
  type Effect = ExtractEvents<Effects>;
  const watching = new Set<(snapshot: Snapshot<Context>) => void>();
  const performing = new Map<string, readonly ((effect: never) => void)[]>();
  const transitions = on as unknown as Readonly<Record<string, Transition | undefined>>;
  let now: Snapshot<Context> = { context };
  const transition = (before: Snapshot<Context>, event: ExtractEvents<Events>): [Snapshot<Context>, Effect[]] => {
    const effects: Effect[] = [];
    const emit = new Proxy({}, { get: (_, type) => (effect?: object) => effects.push({ ...effect, type } as Effect) });
    // Tabs of a later release wish for what this one does not know.
    const next = transitions[event.type]?.(before.context, event, { emit }) ?? before.context;
    return [Object.is(next, before.context) ? before : { context: next as Context }, effects];
  };
  return {
    get: () => now,
    getSnapshot: () => now,
    subscribe(listener) {
      // Another function each time: one may watch twice.
      const told = (snapshot: Snapshot<Context>) => listener(snapshot);
      watching.add(told);
      return { unsubscribe: () => void watching.delete(told) };
    },
    send(event) {
      const [next, effects] = transition(now, event);
      const isChanged = next !== now;
      now = next;
      if (isChanged) for (const told of [...watching]) if (watching.has(told)) told(now);
      for (const effect of effects) for (const perform of performing.get(effect.type) ?? []) perform(effect as never);
    },
    on: (name, perform) => void performing.set(name, [...(performing.get(name) ?? []), perform]),
    transition,
  };
}

type EventOf<On> = On extends (context: never, event: infer Event) => unknown ? (unknown extends Event ? object : Event & object) : never;

/** A store without effects, whose events are said by its transitions. */
export function createStore<Context, On extends { readonly [type: string]: (context: Context, event: never) => Context }>({
  context,
  on,
}: {
  readonly context: Context;
  readonly on: On;
}): Store<Context, { readonly [K in keyof On & string]: EventOf<On[K]> }> {
  return createStoreOf(context, on as never);
}
