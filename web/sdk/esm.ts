/** The module as it is served: it knows where it came from. */
import { defineElement } from './element.ts';

defineElement(new URL(import.meta.url).origin);

export * from './module.ts';
