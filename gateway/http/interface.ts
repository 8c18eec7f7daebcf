/** Decides the form of errors, and whether browsers of other origins may call. */
export type Interface = 'runtime' | 'console' | 'setup' | 'service';
