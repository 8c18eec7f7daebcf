/** Turns of real conversations through the running service: whole ones, and that broken ones are counted and named. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shapeOf } from '../../../../bench/load/turn-client.ts';
import { type Model, withModel } from '../../../../bench/model/model.ts';
import { PLAIN, type TurnKind } from '../../../../bench/questions/turns/turn-kind.ts';
import { findingOf, loadTurns, type Played, type Round, startPlayer, TURN_KINDS } from '../../../../bench/questions/turns/turns.ts';
import { serviceWithAll } from '../../../../bench/servers/service.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

/** Each stream sends a few turns. */
const STREAMS = 4;
const FOR_MS = 200;

function kindNamed(name: string): TurnKind {
  const kind = TURN_KINDS.find((each) => each.name === name);
  assert.ok(kind !== undefined);
  return kind;
}

interface Loaded {
  readonly turns: number;
  readonly broken: number;
  readonly reasons: readonly string[];
  readonly requests: number;
  readonly bytes: number;
}

async function playedBy(kind: TurnKind, model: Model, outDir: string): Promise<Loaded> {
  assert.ok(serviceWithAll.build !== undefined);
  const ours = { ...serviceWithAll, build: serviceWithAll.build };
  const player = await startPlayer(kind, ours, { outDir, quick: true }, model.origin);
  try {
    const before = await model.served();
    const { times, broken, reasons } = await loadTurns(player.client, player.play, STREAMS, FOR_MS);
    const after = await model.served();
    for (const { firstMs, wholeMs } of times) assert.ok(firstMs > 0 && wholeMs >= firstMs);
    return { turns: times.length, broken, reasons, requests: after.requests - before.requests, bytes: after.bytes - before.bytes };
  } finally {
    await player.stop();
  }
}

describe('BENCH-7: turns of real conversations', () => {
  test('are whole, each with as many requests to the model as it says', async (t) => {
    const outDir = temporaryDir(t);
    await withModel(outDir, async (model) => {
      const bytes = new Map<string, number>();
      for (const kind of [PLAIN, ...TURN_KINDS]) {
        const played = await playedBy(kind, model, outDir);
        assert.deepEqual([played.broken, played.requests], [0, played.turns * kind.rounds], `${kind.name}: ${played.reasons[0]}`);
        assert.ok(played.turns >= STREAMS);
        bytes.set(kind.name, played.bytes / played.requests);
      }
      const [plain = 0, long = 0] = [bytes.get('W3'), bytes.get('W8')];
      // The 40 messages of it that a model is sent have some 9,000 characters; all 398 would have ten times as many.
      assert.ok(long > plain + 4_000 && long < plain + 20_000, `${long} bytes beside ${plain}`);
    });
  });

  test('that bring something else are broken, and none of them is timed', async (t) => {
    const outDir = temporaryDir(t);
    await withModel(outDir, async (model) => {
      // The model says its token, and calls nothing.
      const mute = await playedBy({ ...kindNamed('W7'), model: 'fake-1-0' }, model, outDir);
      assert.deepEqual([mute.turns, mute.broken > 0], [0, true]);
      assert.match(mute.reasons[0] ?? '', /^it brought "text 4, completed", not "text 4, item_list, calls get_order_status, awaiting/);
      // The model is one that nobody has.
      const lost = await playedBy({ ...PLAIN, model: 'nobody' }, model, outDir);
      assert.deepEqual([lost.turns, lost.broken > 0], [0, true]);
      assert.match(lost.reasons[0] ?? '', /error/);
    });
  });

  test('are told in the order in which their parts came, what came twice twice', () => {
    const block = { index: 0, id: 'blk_1', block_type: 'text', revision: 1, body: {} };
    const [start, delta] = [
      { type: 'block.start', seq: 1, index: 0, id: 'blk_1', block_type: 'text' },
      { type: 'block.delta', seq: 2, index: 0, text_delta: 'the ' },
    ] as const;
    const list = { type: 'block.ready', seq: 4, index: 1, block: { ...block, block_type: 'item_list' } } as const;
    const call = { type: 'action.execute', seq: 5, invocation_id: 'inv_1', name: 'look', params: {}, timeout_ms: 1_000 } as const;
    const end = { type: 'turn.end', seq: 6, status: 'completed' } as const;
    const events = [start, delta, delta, { type: 'block.ready', seq: 3, index: 0, block } as const, list, list, call, end];
    assert.equal(shapeOf(events), 'text 8, item_list, item_list, calls look, completed');
  });
});

function round(cpuMs: number, requests: number, broken = 0): Round {
  return {
    turns: 10,
    broken,
    reasons: broken > 0 ? ['it was cut off'] : [],
    cpu_ns: cpuMs * 1e6,
    wall_s: 1,
    requests,
    request_bytes: requests * 2_000,
    first_ms: [1, 2],
    whole_ms: [3, 4],
  };
}

describe('BENCH-7: what rounds of such turns say', () => {
  const kind = kindNamed('W7');
  const played = (of: TurnKind, ...rounds: readonly Round[]): Played => ({ candidate: 'service', kind: of, rounds });

  test('a model round is compared with W3 of the same round', () => {
    const plain = played(PLAIN, round(10, 10), round(20, 10), round(10, 10));
    const { tables, warnings } = findingOf([plain, played(kind, round(30, 20), round(60, 20), round(20, 20))]);
    const [columns, cells] = [tables[0]?.columns, tables[0]?.rows[1]];
    assert.equal(columns?.length, cells?.length);
    // 30 ms for 10 turns of two rounds beside 10 ms for 10 of one.
    const cost = ['3000', '1500', '1000 to 3000 (wide)', '1.50', '1.00 to 1.50'];
    assert.deepEqual(cells, ['service', 'W7', ...cost, '1.00 / 2.00', '3.00 / 4.00', '10', '2.00', '0', '≤ 2 ×']);
    assert.deepEqual(warnings, []);
  });

  test('what misses its aim, breaks, or asks the model more often than it should is named', () => {
    const plain = played(PLAIN, round(10, 10));
    const dear = findingOf([plain, played(kind, round(50, 20))]);
    assert.deepEqual(dear.warnings, ['service: a model round costs 2.50 times that of W3, and should cost at most 2 times.']);
    const broken = findingOf([plain, played(kind, round(30, 20, 3))]);
    assert.deepEqual(broken.warnings, ['service: 3 turns were broken: it was cut off']);
    const often = findingOf([plain, played(kind, round(30, 30))]);
    const lost = findingOf([played(PLAIN, round(10, 10, 2)), played(kind, round(30, 20))]);
    assert.deepEqual(lost.warnings, ['service, W3: 2 turns were broken: it was cut off']);
    assert.deepEqual(often.warnings, ['service: the model was asked 3.00 times a turn, not 2 times.']);
  });

  test('an earlier build stands beside the service in a table of its own', () => {
    const [now, before] = [
      [20, 22, 21],
      [40, 40, 42],
    ].map((ms) => played(kind, ...ms.map((each) => round(each, 20))));
    assert.ok(now !== undefined && before !== undefined);
    const [, beside] = findingOf([now, { ...before, candidate: 'earlier' }]).tables;
    assert.deepEqual(beside?.rows, [['W7', '4000', '2100', '0.50', '0.50 to 0.55', 'cheaper']]);
    assert.equal(findingOf([now]).tables.length, 1);
  });
});
