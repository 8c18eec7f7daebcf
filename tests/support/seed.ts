/**
 * The seed of property tests: the same in every run, so that a run which failed can be repeated and one that passed was no
 * luck. `SEED=random npm test` looks further; `SEED=<number>` repeats what such a run printed.
 */
import fc from 'fast-check';

const DEFAULT_SEED = 20_261_121;

const given = process.env.SEED;
if (given !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: given === undefined ? DEFAULT_SEED : Number(given) });
