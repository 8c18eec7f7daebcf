/** Compiles the benchmark's parts that are written in C, and says where the project lies. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder that holds package.json, wherever the compiled files were put below it. */
export function projectDir(): string {
  let dir = import.meta.dirname;
  while (!existsSync(join(dir, 'package.json'))) {
    if (dir === dirname(dir)) throw new Error('package.json not found above the compiled benchmark');
    dir = dirname(dir);
  }
  return dir;
}

/** Compiles a source file into `program`. @throws when there is no C compiler or it refuses */
export function compileC(sourceFile: string, program: string, options: readonly string[] = []): void {
  const compiler = ['gcc', 'cc', 'clang'].find((name) => spawnSync(name, ['--version']).status === 0);
  if (compiler === undefined) throw new Error(`No C compiler found: install gcc or clang, which ${sourceFile} is built with.`);
  const { status, stderr } = spawnSync(compiler, ['-O2', ...options, '-o', program, sourceFile], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${compiler} could not build ${sourceFile}:\n${stderr}`);
}
