/** Every folder of a peer has what a fair comparison needs. Nothing is installed here. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as v from 'valibot';
import { readPeers } from '../../../bench/servers/peer-description.ts';
import { projectRoot } from '../../support/project-root.ts';

const root = projectRoot();
const peersDir = join(root, 'bench/peers');
const EXACT = /^\d+\.\d+\.\d+$/;

const manifest = v.looseObject({
  private: v.literal(true),
  type: v.literal('module'),
  dependencies: v.record(v.string(), v.pipe(v.string(), v.regex(EXACT))),
  devDependencies: v.optional(v.never()),
  overrides: v.optional(v.record(v.string(), v.pipe(v.string(), v.regex(EXACT)))),
});

const lock = v.looseObject({
  lockfileVersion: v.literal(3),
  packages: v.record(
    v.string(),
    v.looseObject({ version: v.string(), integrity: v.optional(v.string()), resolved: v.optional(v.never()) }),
  ),
});

function parsed<S extends v.GenericSchema>(schema: S, ...path: string[]): v.InferOutput<S> {
  return v.parse(schema, JSON.parse(readFileSync(join(...path), 'utf8')));
}

describe('BENCH-5: peers', () => {
  const peers = readPeers(peersDir);

  test('those that are compared have a description, and every folder is one of them', () => {
    const names = ['ai-sdk', 'copilotkit', 'fastify', 'hono', 'langgraph', 'mastra', 'portkey'];
    assert.deepEqual(
      peers.map(({ name }) => name),
      names,
    );
    assert.deepEqual(readdirSync(peersDir).sort(), names);
  });

  for (const { name, folder, request, versions } of peers) {
    test(`${name} is pinned exactly, locked without addresses, and has a server and a recorded answer`, () => {
      const { dependencies } = parsed(manifest, folder, 'package.json');
      const { packages } = parsed(lock, folder, 'package-lock.json');
      for (const [library, version] of Object.entries(dependencies)) assert.equal(packages[`node_modules/${library}`]?.version, version);
      for (const [path, { integrity }] of Object.entries(packages)) assert.ok(path === '' || integrity !== undefined, path);
      assert.deepEqual(versions, dependencies);
      assert.ok(!readFileSync(join(folder, 'package-lock.json'), 'utf8').includes('://registry'));
      assert.ok(existsSync(join(folder, 'answer.txt')));
      assert.ok(JSON.stringify(request.body).split('%TURN%').length <= 2, 'the load client puts in one id');
      const { status, stderr } = spawnSync(process.execPath, ['--check', join(folder, 'server.mjs')], { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      assert.ok(readFileSync(join(folder, 'server.mjs'), 'utf8').startsWith('/** '));
    });
  }

  test('the product has none of their packages but the client of OpenAI, which it uses itself', () => {
    const product = v.looseObject({ dependencies: v.record(v.string(), v.string()), devDependencies: v.record(v.string(), v.string()) });
    const { dependencies, devDependencies } = parsed(product, root, 'package.json');
    const shared = peers.flatMap(({ versions }) => Object.keys(versions)).filter((name) => name in dependencies || name in devDependencies);
    assert.deepEqual([...new Set(shared)], ['openai']);
  });

  test('what is installed for them is kept out of the repository', () => {
    const ignored = peers.map(({ name }) => `bench/peers/${name}/node_modules/`);
    const { status, stdout } = spawnSync('git', ['check-ignore', ...ignored], { cwd: root, encoding: 'utf8' });
    if (status === 128) return;
    assert.deepEqual(stdout.trim().split('\n'), ignored);
  });
});
