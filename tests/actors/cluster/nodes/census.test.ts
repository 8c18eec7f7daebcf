/** What is wrong with the nodes of a cell, as one of them tells it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CellServices, type CensusServices, cellView } from '../../../../actors/cluster/nodes/census.ts';
import type { Condition } from '../../../../storage/health/conditions.ts';

function condition(name: Condition['name'], subject: string, sinceMs: number, detail = `${name} here`): Condition {
  return { name, subject, detail, sinceMs };
}

test('CONSOLE-30: what is wrong with any node of the cell is told once, with the name of a node that alone says so; one that does not answer says nothing', async () => {
  const held: Record<string, readonly Condition[]> = {
    'b~2': [condition('disk_low', '', 10), condition('model_failing', 'app_1', 5, 'it fails')],
    'c~3': [condition('model_failing', 'app_1', 7), condition('model_failing', 'app_2', 9)],
  };
  const asked: string[] = [];
  const questions = {
    answer: () => undefined,
    ask: async (node: string, kind: string) => {
      asked.push(`${node} ${kind}`);
      const conditions = held[node];
      if (conditions === undefined) throw new Error('silent');
      return { conditions };
    },
  };
  const list = () => ['a~1', 'b~2', 'c~3', 'd~4'].map((id) => ({ id, name: id.slice(0, 1) }));
  const cell = { members: { self: 'a~1', list }, questions } as unknown as CellServices;
  const own = [condition('redis_away', '', 20), condition('model_failing', 'app_1', 8)];
  const census = { actors: () => [], conditions: { list: () => own }, drain: () => undefined, node: {} } as unknown as CensusServices;
  assert.deepEqual(await cellView(cell, census).conditions(), [
    condition('disk_low', '', 10, 'b: disk_low here'),
    condition('redis_away', '', 20),
    condition('model_failing', 'app_1', 5),
    condition('model_failing', 'app_2', 9, 'c: model_failing here'),
  ]);
  assert.deepEqual(asked, ['b~2 conditions', 'c~3 conditions', 'd~4 conditions']);
});
