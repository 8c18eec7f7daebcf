/**
 * What packages say of the stores in them, in the place of the types of `@xstate/store`: those are of xstate's, which an app need not have and
 * whose own do not pass every setting of the compiler. See pack.mjs.
 */
type Named = { readonly [type: string]: object };

export type ExtractEvents<Events extends Named> = { [K in keyof Events & string]: Events[K] & { readonly type: K } }[keyof Events & string];

export interface Store<Context, Events extends Named, _Emitted = never> {
  get(): { readonly context: Context };
  getSnapshot(): { readonly context: Context };
  /** Tells of every change. */
  subscribe(listener: (snapshot: { readonly context: Context }) => void): { unsubscribe(): void };
  send(event: ExtractEvents<Events>): void;
}

export interface StoreLogicCreator<Context, Events extends Named, Emitted, _Input, _Selectors> {
  createStore(): Store<Context, Events, Emitted>;
}

export type EnqueueObject<_Context, _Emitted, _Events> = never;
