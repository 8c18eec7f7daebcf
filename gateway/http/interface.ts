/** The interfaces that a route may belong to. */

/** Whose words errors are told in, and whether browsers of other origins are among the callers. */
export type Interface = 'runtime' | 'console' | 'setup' | 'service';
