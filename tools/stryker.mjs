/**
 * Stryker (https://stryker-mutator.io) by hand: `FILE=machines/invocation npm run stryker`. It changes comparisons, bounds, branches and
 * expressions of a compiled file one at a time, in a copy, and runs the tests that mirror the file. What survives is looked at: some
 * changes nobody can notice. It is fetched when it is run, because nothing else needs its 73 MB.
 */
const file = process.env.FILE ?? 'machines/invocation';
/** Further files of tests, without ending: those of a file that others' tests prove. */
const tests = process.env.TESTS?.split(' ') ?? [file, `${file}-*`];

export default {
  mutate: [`dist/${file}.js`],
  // How a message is worded and what a shape lists is read by people; what decides has a branch, a bound or an expression.
  mutator: { excludedMutations: ['StringLiteral', 'ObjectLiteral'] },
  testRunner: 'tap',
  plugins: ['@stryker-mutator/tap-runner'],
  tap: {
    testFiles: tests.map((test) => `dist/tests/${test}.test.js`),
    nodeArgs: ['--import', './dist/tests/support/seed.js', '--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'],
  },
  coverageAnalysis: 'perTest',
  // It would be read with an interface that the compiler no longer has.
  tsconfigFile: 'none',
  concurrency: 2,
  // A busy machine is no change that was noticed; loops without end are counted, not timed.
  timeoutMS: 30_000,
  ignorePatterns: ['/*', '!/dist', '/dist/bench', '/dist/web', '/dist/**/*.map', '!/docs', '!/package.json', '!/package-lock.json'],
  tempDirName: 'dist-stryker',
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
};
