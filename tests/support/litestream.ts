/** The Litestream that tests run: the program of the package for this machine. */
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';

/** The path of the program. @throws Error where the package has none for this machine. */
export function litestreamBin(): string {
  const require = createRequire(import.meta.url);
  return require.resolve(`@flydotio/litestream-${platform()}-${arch()}/litestream`);
}
