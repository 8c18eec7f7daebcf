/** For what all tests of a file share: it starts at the top of the file, awaited, and ends with the file's last test. */
import { after, type TestContext } from 'node:test';

/** As far as a start asks, a file of tests has what a test has. */
export const FILE = { after } as unknown as TestContext;
