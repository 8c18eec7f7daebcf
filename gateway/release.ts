/** Which release this is, as package.json beside the program says (RUN-39). */
import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string };

export const RELEASE: string = version;
