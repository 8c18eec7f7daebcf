/** `npm run types`: writes types/assistant-runtime.d.ts anew. */
import { writeFileSync } from 'node:fs';
import { runtimeTypes, TYPES_FILE } from './runtime-types.ts';

writeFileSync(TYPES_FILE, await runtimeTypes());
