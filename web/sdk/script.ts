/** The web SDK as a classic script: `Assistant` on the page, with what the stub has queued done first. */
import { defineElement } from './element.ts';
import * as sdk from './module.ts';

type Call = readonly [name: string, args: readonly unknown[], resolve?: (value: unknown) => void, reject?: (error: unknown) => void];

interface Page {
  Assistant?: { q?: { push(call: Call): unknown } & Iterable<Call> } | typeof sdk;
}

/** As the page would have called it; a promise that the stub gave settles as its own. */
function run([name, args, resolve, reject = reportError]: Call): void {
  const call = Object.hasOwn(sdk, name) ? (sdk as unknown as Record<string, unknown>)[name] : undefined;
  try {
    const value: unknown = typeof call === 'function' ? call(...args) : undefined;
    resolve?.(value);
  } catch (error) {
    reject(error);
  }
}

// Where tokens go is said by the script alone: markup of the page such as `<img name="currentScript">` takes the place of the document's property.
const own: unknown = Reflect.get(Document.prototype, 'currentScript', document);
const src = own instanceof HTMLScriptElement ? own.src : '';
// Parts lie beside the script.
if (src !== '') Object.assign(Reflect.get(globalThis, Symbol.for(`assistant-widget ${sdk.version}`)), { folder: new URL('.', src).href });
const page = globalThis as unknown as Page;
const before = page.Assistant;
// Twice in a page, as after a body was swapped: the first one has the widget, and goes on.
if (before === undefined || !('version' in before)) {
  defineElement(src === '' ? '' : new URL(src).origin);
  page.Assistant = sdk;
  if (before?.q !== undefined) {
    for (const call of before.q) run(call);
    // Whoever kept what the stub gave goes on calling it.
    before.q.push = run;
  }
}
