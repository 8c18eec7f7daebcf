/** Run once before the tests: several files that install Redis at the same time would stand in each other's way. */
import { redisMissing } from './redis.ts';

const missing = redisMissing();
if (missing !== false) process.stdout.write(`Tests of several nodes are skipped: ${missing}\n`);
