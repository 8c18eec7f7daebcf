/** The command that prints machines; it speaks to no service. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeMachine, findMachine } from '../../../machines/diagrams/description.ts';
import { MACHINES } from '../../../machines/index.ts';
import { pairing } from '../../../machines/pairing.ts';
import { machineVersion } from '../../../machines/version.ts';
import { projectRoot } from '../../support/project-root.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { cliFixture } from './fixture.ts';

test('DIAGRAM-8: diagram prints what each state does with each event that counts', async () => {
  const { code, stdout, stderr } = await cliFixture().run('diagram', 'pairing');
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(
    stdout,
    `Pairing (pairing), version ${machineVersion(pairing)}. Rules: docs/specification/pairing.md: PAIRING-7.

STATE    EVENT             LEADS TO
open     pairing.claim     expired / claimed
         pairing.replaced  expired
         pairing.expire    expired
claimed  pairing.claim     refused: pairing_not_found
         pairing.expire    over
expired  pairing.claim     refused: pairing_not_found
over     pairing.claim     refused: pairing_not_found

Every other event is ignored.
`,
  );
});

test('DIAGRAM-8: diagram prints every machine, and of equal regions one with the names of all', async () => {
  for (const { name } of MACHINES) {
    const { code, stdout } = await cliFixture().run('diagram', name);
    assert.equal(code, 0);
    assert.match(stdout, /^STATE +EVENT +LEADS TO$/m);
  }
  const { stdout } = await cliFixture().run('diagram', 'step-panel');
  assert.match(stdout, /^13 regions beside each other, all as the table says: waiting, /m);
  assert.match(
    (await cliFixture().run('diagram', 'setup-session')).stdout,
    /^ +session\.call +expired \/ refused: app_live \/ refused: not_started$/m,
  );
  assert.match((await cliFixture().run('diagram', 'chat-turn')).stdout, /^completed +- +-$/m);
});

test('DIAGRAM-8: --svg writes the picture of the documents, --json prints what the interface answers', async (t) => {
  const file = join(temporaryDir(t), 'pairing.svg');
  const { code, stderr } = await cliFixture().run('diagram', 'pairing', '--svg', file);
  assert.deepEqual([code, stderr], [0, `${file} holds the picture.\n`]);
  assert.equal(readFileSync(file, 'utf8'), readFileSync(join(projectRoot(), 'docs', 'images', 'machines', 'pairing.svg'), 'utf8'));
  const listed = findMachine('pairing');
  assert.ok(listed);
  const { stdout } = await cliFixture().run('diagram', 'pairing', '--json');
  assert.deepEqual(JSON.parse(stdout), JSON.parse(JSON.stringify(describeMachine(listed))));
});

test('DIAGRAM-8: a file that cannot be written is one line and exit code 1', async (t) => {
  const file = join(temporaryDir(t), 'nowhere', 'pairing.svg');
  const { code, stdout, stderr } = await cliFixture().run('diagram', 'pairing', '--svg', file);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /pairing\.svg cannot be written \(ENOENT\)\. Give --svg the path of a file in a folder that is there\.\n$/);
});
