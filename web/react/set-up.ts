/**
 * What an app registers in its `setUp`, kept over renders: a handler is the newest one that was given, and what stays as it was is not
 * registered anew, so that the manifest of a build is sent once.
 */
import type { OwnDrawing } from '../sdk/blocks/shown-block.ts';
import type { WidgetScript } from '../sdk/load.ts';

type Register = (definition: { readonly name: string }, handler: (...given: never[]) => unknown) => () => void;

interface Registration {
  readonly json: string;
  handler: (...given: never[]) => unknown;
  readonly takeAway: () => void;
  /** Of which run of `setUp` it is. */
  run: number;
}

export class SetUp {
  readonly #script: WidgetScript;
  readonly #registered = new Map<string, Registration>();
  #run = 0;
  #end: (() => void) | undefined;

  constructor(script: WidgetScript) {
    this.#script = script;
  }

  /** Calls it with the widget, and takes away what an earlier one registered and this one does not. */
  call(setUp: ((widget: WidgetScript) => unknown) | undefined): void {
    const run = ++this.#run;
    this.#end?.();
    this.#end = undefined;
    let listeners = 0;
    const script = this.#script;
    const widget: WidgetScript = {
      ...script,
      registerAction: (definition, handler) =>
        this.#keep(run, `action ${definition?.name}`, definition, handler, script.registerAction as Register),
      registerScreen: (definition, open) =>
        this.#keep(run, `screen ${definition?.name}`, definition, open, script.registerScreen as Register),
      registerComponent: (type, drawing) =>
        typeof drawing === 'string'
          ? this.#keep(
              run,
              `component ${type}`,
              { name: `${type} ${drawing}` },
              () => {},
              () => script.registerComponent(type, drawing),
            )
          : this.#keep(run, `component ${type}`, { name: type }, drawing as Registration['handler'], (_, draw) =>
              script.registerComponent(type, draw as unknown as OwnDrawing),
            ),
      onEvent: (listener) =>
        this.#keep(run, `listener ${listeners++}`, { name: '' }, listener, (_, tell) => script.onEvent(tell as () => void)),
    };
    const end: unknown = setUp?.(widget);
    if (typeof end === 'function') this.#end = end as () => void;
    for (const [name, { run: of, takeAway }] of this.#registered) {
      if (of === run) continue;
      this.#registered.delete(name);
      takeAway();
    }
  }

  /** The widget goes, and with it all that is registered. */
  end(): void {
    this.#end?.();
  }

  #keep(
    run: number,
    name: string,
    definition: { readonly name: string },
    handler: Registration['handler'],
    register: Register,
  ): () => void {
    const json = JSON.stringify(definition);
    const before = this.#registered.get(name);
    const isSame = before !== undefined && before.json === json && typeof handler === 'function';
    if (!isSame) before?.takeAway();
    const newest = (...given: never[]) => this.#registered.get(name)?.handler(...given);
    const now: Registration = isSame
      ? Object.assign(before, { handler, run })
      : // What is no function is told by whoever registers it.
        { json, handler, run, takeAway: register(definition, typeof handler === 'function' ? newest : handler) };
    this.#registered.set(name, now);
    return () => {
      // One that another run gave anew is that one's, and may be yet while it begins.
      if (this.#registered.get(name) !== now || now.run !== run || run !== this.#run) return;
      this.#registered.delete(name);
      now.takeAway();
    };
  }
}
