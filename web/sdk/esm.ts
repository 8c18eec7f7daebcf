/** The module as it is served: it knows where it came from. */
import { servedFrom } from './module.ts';

servedFrom(new URL(import.meta.url).origin);

export * from './module.ts';
