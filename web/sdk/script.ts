/** The web SDK as a classic script: `Assistant` on the page, with what the stub has queued done first. */
import { defineElement } from './element.ts';
import * as sdk from './module.ts';

type Call = readonly [name: string, args: readonly unknown[]];

interface Page {
  Assistant?: { readonly q?: readonly Call[] } | typeof sdk;
}

const { src } = (document.currentScript ?? {}) as Partial<HTMLScriptElement>;
defineElement(src === undefined || src === '' ? '' : new URL(src).origin);

const page = globalThis as unknown as Page;
const queued = page.Assistant !== undefined && 'q' in page.Assistant ? (page.Assistant.q ?? []) : [];
page.Assistant = sdk;
for (const [name, args] of queued) {
  const call = Object.hasOwn(sdk, name) ? (sdk as unknown as Record<string, unknown>)[name] : undefined;
  try {
    if (typeof call === 'function') call(...args);
  } catch (error) {
    reportError(error);
  }
}
