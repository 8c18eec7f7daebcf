import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { whyNot } from '../../program/platform.ts';
import { projectRoot } from '../support/project-root.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

test('RUN-40: what a loader says becomes what to do', () => {
  assert.match(
    whyNot('uWebSockets.js', "Error: /lib/libc.so.6: version `GLIBC_2.38' not found (required by uws_linux_x64_137.node)"),
    /needs glibc 2\.38 \(Debian 13, Ubuntu 24\.04\), or use Node 20/,
  );
  assert.match(
    whyNot('better-sqlite3', 'Error: was compiled against a different Node.js version using\nNODE_MODULE_VERSION 115.'),
    /^better-sqlite3 does not load on Node .*: it was compiled for another Node: use the archive for this one/,
  );
});

test('RUN-40: a binary that does not load ends the start with one line, before anything else is loaded', (t) => {
  const [, first] = readFileSync(join(projectRoot(), 'main.ts'), 'utf8').match(/^import '(\S+)';$|^import /m) ?? [];
  assert.equal(first, './program/platform.ts');
  const folder = temporaryDir(t);
  const library = join(folder, 'node_modules/uWebSockets.js');
  mkdirSync(library, { recursive: true });
  writeFileSync(join(library, 'index.js'), "throw new Error('libc.so.6: version `GLIBC_2.38\\' not found')");
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(library, 'package.json'), '{}');
  copyFileSync(fileURLToPath(new URL('../../program/platform.js', import.meta.url)), join(folder, 'platform.js'));
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'platform.js')], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^uWebSockets\.js does not load on Node [\d.]+ with \S+ \S+ on \w+ \w+: its binary for this Node needs glibc 2\.38[^\n]*\.\n$/,
  );
});
