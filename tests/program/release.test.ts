/** What an operator installs: packed, unpacked into an empty folder, and started with nothing but Node. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { createClient, spoken } from '../support/client.ts';
import { projectRoot } from '../support/project-root.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { FILE } from '../support/whole-file.ts';

const root = projectRoot();
const run = promisify(execFile);
const PACKED_MAX_BYTES = 60e6;
const UNPACKED_MAX_MB = 200;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const NAME = `assistant-service-${version}-linux-${process.arch}-node${process.versions.node.split('.', 1)[0]}`;

async function pack(out: string): Promise<void> {
  await run(process.execPath, [join(root, 'dist/tools/pack-release.js'), '--out', out], {
    cwd: root,
    env: { ...process.env, SOURCE_DATE_EPOCH: '1767225600' },
  });
}

/** A folder with Node and no other program: no compiler, no npm, no shell. */
function nodeAlone(t: TestContext): string {
  const folder = temporaryDir(t);
  symlinkSync(process.execPath, join(folder, 'node'));
  return folder;
}

const out = temporaryDir(FILE);
const again = temporaryDir(FILE);
const unpackedTo = temporaryDir(FILE);
const unpacked = join(unpackedTo, NAME);

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

describe('the archive', { concurrency: 2 }, () => {
  before(async () => {
    await pack(out);
    await run('tar', ['-xzf', join(out, `${NAME}.tar.gz`), '-C', unpackedTo]);
  });

  test('RUN-39: the archive starts in an empty folder with Node alone, tells its version and answers', async (t) => {
    const entry = join(unpacked, 'dist/main.js');
    const env = { PATH: nodeAlone(t) };
    const { stdout } = await run(process.execPath, [entry, '--version'], { env, cwd: temporaryDir(t) });
    assert.equal(stdout, `${version}\n`);
    const service = await startService(t, { entry, env });
    const { events } = await createClient(service.baseUrl, service.liveKey).say('How long does delivery take?');
    assert.equal(events.at(-1)?.status, 'completed');
    assert.match(spoken(events), /\w/);
    assert.match(service.output().stderr, new RegExp(`"version":"${version}","msg":"listening"`));
    const ready = await fetch(`${service.baseUrl}/readyz`, { headers: { Authorization: `Bearer ${service.operatorToken}` } });
    assert.equal(((await ready.json()) as { version?: string }).version, version);
    for (const path of ['/demo', '/console', '/sdk/web/latest/assistant.js', '/docs/operations.md']) {
      assert.equal((await fetch(`${service.baseUrl}${path}`)).status, 200, path);
    }
    assert.equal(await service.stop(), 0);
  });

  test('RUN-39: it holds this platform’s natives alone, is small, and comes with a bill of materials, licences and checksums', async () => {
    const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      files.filter((path) => /(?:^|\/)\.env/.test(path)),
      [],
      'what an operator put beside the files stays there',
    );
    const natives = files.filter((path) => path.endsWith('.node')).map((path) => path.split('/').at(-1) ?? '');
    const expected = [`uws_linux_${process.arch}_${process.versions.modules}.node`, 'better_sqlite3.node'];
    for (const name of expected) assert.ok(natives.includes(name), natives.join());
    assert.ok(
      natives.every((name) => expected.includes(name) || name.includes(`linux-${process.arch}`)),
      natives.join(),
    );
    assert.deepEqual(
      files.filter((path) => /^dist\/(?:tests|bench|tools)\b|\.d\.ts$/.test(path) && !path.startsWith('types/')),
      [],
    );
    assert.ok(readFileSync(join(out, `${NAME}.tar.gz`)).length <= PACKED_MAX_BYTES);
    assert.ok(Number((await run('du', ['-sm', unpacked])).stdout.split('\t')[0]) <= UNPACKED_MAX_MB);
    const bill = JSON.parse(readFileSync(join(out, `${NAME}.cdx.json`), 'utf8')) as { bomFormat: string; components: { name: string }[] };
    const names = new Set(bill.components.map(({ name }) => name));
    assert.equal(bill.bomFormat, 'CycloneDX');
    const folders = readdirSync(join(unpacked, 'node_modules')).filter((name) => !name.startsWith('@') && name !== 'uWebSockets.js');
    assert.deepEqual(
      folders.filter((name) => !names.has(name)),
      [],
    );
    assert.ok(!names.has('typescript') && !names.has('@img/sharp-darwin-arm64'));
    assert.match(readFileSync(join(out, `${NAME}.licenses.txt`), 'utf8'), /^valibot 1\.\d+\.\d+: MIT\n\nMIT License/m);
    for (const line of readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n')) {
      const [sum, file = ''] = line.split('  ');
      assert.equal(sha256(join(out, file)), sum, file);
    }
  });

  test('RUN-39: made twice, it is the same bytes', async () => {
    await pack(again);
    assert.equal(readFileSync(join(again, 'SHA256SUMS'), 'utf8'), readFileSync(join(out, 'SHA256SUMS'), 'utf8'));
  });
});
