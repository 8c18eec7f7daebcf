/** Where on a picture and a table counted steps belong. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MachinePicture } from '../../../machines/picture.ts';
import { countsOf, edgeKey, hitsOf, ownCells, rowKey, tintOf } from '../../../web/console/machines/coverage.ts';
import { projectRoot } from '../../support/project-root.ts';

const picture = (name: string) =>
  JSON.parse(readFileSync(join(projectRoot(), 'machines/pictures', `${name}.json`), 'utf8')) as MachinePicture;
const cell = (machine: string, state: string, event: string, to: string, count: number) => ({ machine, state, event, to, count });

test('REPLAY-6: steps count at the edge or the row that is drawn for them, also for states inside others', () => {
  const invocation = picture('invocation');
  const cells = ownCells('invocation', invocation, [
    cell('invocation', 'pending.clean', 'expire', 'expired', 2),
    cell('chat-turn', 'answering', 'turn.stop', 'completed', 9),
  ]);
  const { edges, rows, states } = hitsOf(invocation, cells);
  assert.deepEqual([...states].sort(), ['expired', 'pending', 'pending.clean']);
  assert.deepEqual([...edges], [[edgeKey('pending', 'expire', 'expired'), 2]]);
  assert.equal(rows.size, 0);
  const turn = picture('chat-turn');
  const stays = hitsOf(turn, ownCells('chat-turn', turn, [cell('chat-turn', 'answering', 'block.completed', 'answering', 4)]));
  assert.deepEqual([...stays.rows], [[rowKey('answering', 'block.completed'), 4]]);
  assert.equal(stays.edges.size, 0);
});

test('REPLAY-6: equal regions are counted together', () => {
  const panel = picture('step-panel');
  const cells = ownCells('step-panel', panel, [
    cell('step-panel', 'connect.pending', 'step.written', 'connect.active', 1),
    cell('step-panel', 'knowledge.pending', 'step.written', 'knowledge.active', 2),
  ]);
  assert.equal(countsOf(cells).get('pending step.written'), 3);
});

test('REPLAY-6: each tint stands for ten times as many', () => {
  assert.deepEqual([0, 1, 9, 10, 100, 1_000, 1_000_000].map(tintOf), [0, 1, 1, 2, 3, 4, 4]);
});
