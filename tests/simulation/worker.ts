/** Runs seeds in a world of its own: what it replaces has to be replaced before the program is imported. */
import { uncaught } from './world.ts';
import './network.ts';
import './threads.ts';
import './disk.ts';

try {
  const { runSeeds } = await import('./seeds.ts');
  const [first, every, end] = process.argv.slice(2).map(Number) as [number, number, number];
  process.exitCode = await runSeeds(first, every, end);
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
}
for (const error of uncaught) process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
process.exit();
