/** The cost of several nodes is that of all together, for each turn and each delta that was whole. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LoadResult } from '../../../../bench/load/load.ts';
import { findingOf, type NodesCost } from '../../../../bench/questions/nodes/several-nodes.ts';
import { workloadNamed } from '../../../../bench/workloads/workloads.ts';

function result(tokens: number, broken: number): LoadResult {
  const times = { first_ms: [], whole_ms: [], wall_s: 1 };
  const counts = { streams: 10, ok: 10, broken, refused: 0, deltas: 10 * tokens, chars: 1, bytes: 1 };
  return { ...counts, ...times, stalled: false, reasons: [] };
}

/** A round in which each node brought ten whole streams, and all nodes together took so much for each of their turns. */
function cost(name: 'W2' | 'W3', nodes: number | null, usPerTurn: number, broken = 0): NodesCost {
  const kind = workloadNamed(name);
  const count = nodes ?? 1;
  const results = Array.from({ length: count }, () => result(kind.tokens, broken));
  return { kind, nodes, rounds: [{ results, nodes_ns: usPerTurn * 1e3 * 10 * count, redis_ns: 0, rss_bytes: 1e6 }] };
}

describe('BENCH-16: nodes of a cell', () => {
  const costs = [
    cost('W3', null, 90),
    ...[1, 2, 4].map((nodes) => cost('W3', nodes, 100 * nodes)),
    cost('W2', null, 900),
    ...[1, 2, 4].map((nodes) => cost('W2', nodes, 1_000, nodes === 4 ? 1 : 0)),
  ];
  const { curves, tables, warnings } = findingOf(costs);

  test('a curve of a turn and one of a delta have a point for each cell, none for the program alone', () => {
    assert.deepEqual(
      curves?.map(({ lines }) => lines[0]?.points.map(({ x, y }) => [x, y])),
      [
        [
          [1, 100],
          [2, 200],
          [4, 400],
        ],
        [
          [1, 10],
          [2, 10],
          [4, 10],
        ],
      ],
    );
  });

  test('a table for each load has a row for each site', () => {
    assert.deepEqual(
      tables.map(({ rows }) => rows.map(([site, us]) => [site, us])),
      [
        [
          ['the program alone', '90.0'],
          ['1', '100'],
          ['2', '200'],
          ['4', '400'],
        ],
        [
          ['the program alone', '9.00'],
          ['1', '10.0'],
          ['2', '10.0'],
          ['4', '10.0'],
        ],
      ],
    );
  });

  test('what grows too much is named, and so are streams that were not whole', () => {
    assert.deepEqual(warnings, [
      'CPU time of a turn in all nodes grows with the nodes of a cell: 400 µs at 4 is 4.0 times the 100 µs at 1.',
      `With 4 nodes of a cell (${workloadNamed('W2').what}): 4 streams were not whole.`,
    ]);
  });
});
