/** `npm run conformance`: writes docs/conformance.md anew. */
import { writeFileSync } from 'node:fs';
import { CONFORMANCE_FILE, conformancePage } from './conformance-page.ts';
import { readChapters, readTests } from './specification.ts';

writeFileSync(CONFORMANCE_FILE, conformancePage(readChapters(), readTests()));
