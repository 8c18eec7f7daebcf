/** For esbuild's `alias`: packages in whose place markdown-it gets what spared.ts has of them. 24 of its 42 KB under gzip stay away. */
import { fileURLToPath } from 'node:url';

const path = fileURLToPath(new URL('spared.ts', import.meta.url));

export const SPARED = Object.fromEntries(['entities', 'linkify-it', 'mdurl', 'punycode.js', 'uc.micro'].map((name) => [name, path]));
