import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type AssemblerOptions, BlockAssembler } from '../../assistant/block-assembler.ts';
import type { Block } from '../../protocol/catalog/block.ts';

const TEXT_MAX_CHARS = 8_000;

/** What an assembler said, and the rules that hold for whatever it says. */
class Answer {
  readonly started: { index: number; id: string; blockType: string }[] = [];
  readonly completed: Block[] = [];
  readonly deltas = new Map<number, string>();
  readonly assembler: BlockAssembler;

  constructor(options: Partial<AssemblerOptions> = {}) {
    let minted = 0;
    this.assembler = new BlockAssembler(
      {
        components: new Set(['text', 'key_points', 'tags', 'confirm_card']),
        routes: new Map(),
        actionKinds: new Set(),
        mintBlockId: () => `blk_${minted++}`,
        ...options,
      },
      {
        started: (index, id, blockType) => this.started.push({ index, id, blockType }),
        delta: (index, _id, text) => {
          assert.notEqual(text, '', 'an empty delta tells nothing');
          this.deltas.set(index, (this.deltas.get(index) ?? '') + text);
        },
        completed: (block) => this.completed.push(block),
      },
    );
  }

  /** The blocks in the order of their places. @throws when a place is missing or taken twice. */
  blocks(): Block[] {
    const sorted = [...this.completed].sort((one, other) => one.index - other.index);
    assert.deepEqual(
      sorted.map((block) => [block.index, block.id]),
      this.started.map(({ index, id }) => [index, id]),
      'every announced block completes, once, under its own id',
    );
    assert.deepEqual(
      sorted.map((block) => block.index),
      sorted.map((_, index) => index),
      'places are numbered from 0 without gaps',
    );
    return sorted;
  }

  bodies(): unknown[] {
    return this.blocks().map((block) => block.body);
  }

  markdown(): string[] {
    return this.blocks().map((block) => String(block.body.md));
  }
}

function spoken(parts: readonly string[]): Answer {
  const answer = new Answer();
  for (const part of parts) answer.assembler.text(part);
  answer.assembler.finish();
  return answer;
}

/** Cuts `text` at these places, given as shares of its length. */
function cutAt(text: string, shares: readonly number[]): string[] {
  const places = [...new Set(shares.map((share) => Math.floor(share * text.length)))].sort((one, other) => one - other);
  return [...places, text.length]
    .map((place, index) => text.slice(index === 0 ? 0 : places[index - 1], place))
    .filter((part) => part !== '');
}

/** Texts around the length at which blocks end, made of what ends them: line breaks, paragraphs, pairs. */
const longText = fc
  .array(
    fc.tuple(
      fc.constantFrom('word ', '\n', '\n\n', '🦀', 'a', ' ', '- item\n'),
      fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) }, { weight: 1, arbitrary: fc.integer({ min: 300, max: 4_000 }) }),
    ),
    { minLength: 1, maxLength: 14 },
  )
  .map((parts) => parts.map(([word, times]) => word.repeat(times)).join(''))
  // Cut between characters: what a model sends is well formed as a whole.
  .map((text) => text.slice(0, 40_000).replace(/[\uD800-\uDBFF]$/, ''));

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 30 });

describe('MODEL-10: text becomes text blocks', () => {
  test('an answer that ends within a character, because it was cut or stopped there, does not say half of it', () => {
    assert.deepEqual(spoken(['Crab 🦀'.slice(0, -1)]).markdown(), ['Crab ']);
    assert.deepEqual(spoken(['Crab ', '🦀'.slice(0, 1)]).markdown(), ['Crab ']);
    // A block is not empty.
    assert.deepEqual(spoken(['🦀'.slice(0, 1)]).markdown(), ['\ufffd']);
  });

  test('any split of a text into deltas gives the same blocks', () => {
    fc.assert(
      fc.property(longText, shares, (text, at) => {
        assert.deepEqual(spoken(cutAt(text, at)).markdown(), spoken([text]).markdown());
      }),
      { numRuns: 300 },
    );
  });

  test('a split at each place around the end of a full block gives the same blocks', () => {
    for (const end of ['\n\nmore', '\n \nmore', '🦀🦀', '\n\n\n\nmore', 'more']) {
      for (const length of [6_998, 6_999, 7_000, 7_001, 7_998, 7_999, 8_000]) {
        const text = `${'x'.repeat(length)}${end}${'y'.repeat(1_500)}`;
        const whole = spoken([text]).markdown();
        for (let at = length - 2; at <= length + end.length + 1; at++) {
          assert.deepEqual(spoken([text.slice(0, at), text.slice(at)]).markdown(), whole, `${JSON.stringify(end)} ${length} ${at}`);
        }
        assert.deepEqual(spoken(Array.from({ length: text.length }, (_, at) => text.charAt(at))).markdown(), whole);
      }
    }
  });

  test('the deltas of a block join to its body, no block is over 8,000 characters, none is empty', () => {
    fc.assert(
      fc.property(longText, shares, (text, at) => {
        const answer = spoken(cutAt(text, at));
        answer.blocks().forEach((block, index) => {
          const md = String(block.body.md);
          assert.equal(answer.deltas.get(index), md);
          assert.ok(md.length <= TEXT_MAX_CHARS);
          assert.match(md, /^\S/);
        });
      }),
      { numRuns: 300 },
    );
  });

  test('nothing but white space between blocks is lost, and no pair of halves is torn apart', () => {
    fc.assert(
      fc.property(longText, shares, (text, at) => {
        const blocks = spoken(cutAt(text, at)).markdown();
        assert.equal(blocks.join('').replace(/\s/g, ''), text.replace(/\s/g, ''));
        for (const md of blocks) assert.doesNotMatch(md, /\p{Surrogate}/u);
      }),
      { numRuns: 300 },
    );
  });

  test('a delta never ends between the halves of a pair, even when the model\u2019s own did', () => {
    const deltas: string[] = [];
    const assembler = new BlockAssembler(
      { components: new Set(['text']), routes: new Map(), actionKinds: new Set(), mintBlockId: () => 'blk' },
      { started() {}, delta: (_index, _id, text) => deltas.push(text), completed() {} },
    );
    for (const unit of 'a🦀b'.split('')) assembler.text(unit);
    assembler.finish();
    assert.deepEqual(deltas, ['a', '🦀', 'b']);
  });

  test('a long text ends its block at the first paragraph after 7,000 characters', () => {
    const text = `${'x'.repeat(6_990)}\n\n${'y'.repeat(300)}\n\n${'z'.repeat(50)}`;
    assert.deepEqual(spoken([text]).markdown(), [`${'x'.repeat(6_990)}\n\n${'y'.repeat(300)}`, 'z'.repeat(50)]);
  });

  test('a table that is longer than a block goes on in the next one with its head, between two rows, however it is cut', () => {
    const head = '| Order | State |\n|---|:-:|';
    const rows = Array.from({ length: 600 }, (_, n) => `| A-${n} | On its way to you |`);
    const text = `Yours:\n\n${head}\n${rows.join('\n')}\n\nThat is all.`;
    for (const parts of [[text], text.split(/(?<=\|)/), cutAt(text, [0.1, 0.33, 0.4142, 0.8])]) {
      const blocks = spoken(parts).markdown();
      assert.ok(blocks.length > 2 && blocks.every((md) => md.length <= TEXT_MAX_CHARS));
      for (const md of blocks.slice(1)) assert.ok(md.startsWith(`${head}\n| A-`), md.slice(0, 80));
      assert.deepEqual(
        blocks.flatMap((md) => md.split('\n').filter((line) => line.startsWith('| A-'))),
        rows,
      );
    }
    const wide = `${head}\n| ${'x'.repeat(20_000)} |`;
    assert.equal(spoken([wide]).markdown().join(''), wide, 'a row that is too long is cut as words are');
  });

  test('white space alone makes no block, and leads none', () => {
    assert.deepEqual(spoken(['  ', '\n\n', '\t']).blocks(), []);
    assert.deepEqual(spoken([' \n', '\n Hello']).markdown(), ['Hello']);
  });

  test('a client that draws no text is sent none', () => {
    const answer = new Answer({ components: new Set(['key_points']) });
    answer.assembler.text('Hello there');
    answer.assembler.finish();
    assert.deepEqual(answer.blocks(), []);
    assert.equal(answer.assembler.count, 0);
  });
});

const POINTS = JSON.stringify({ points: [{ text: 'First things first' }] });
const BROKEN = JSON.stringify({ points: 'Order early in December' });

describe('MODEL-11: component calls become their blocks', () => {
  test('block.start as soon as the name is known, block.ready once the body is whole; text before it is closed', () => {
    const answer = new Answer();
    answer.assembler.text('Look:');
    answer.assembler.componentStarted({ id: 'call_1', name: 'key_points' });
    assert.deepEqual(
      answer.started.map(({ blockType }) => blockType),
      ['text', 'key_points'],
    );
    assert.equal(answer.completed.length, 1);
    assert.deepEqual(answer.assembler.finishRound([{ id: 'call_1', name: 'key_points', arguments: POINTS }]), []);
    answer.assembler.finish();
    const [, block] = answer.blocks();
    assert.equal(block?.block_type, 'key_points');
    assert.match(block?.fallback_text ?? '', /First things first/);
  });

  test('a body that does not fit is asked for once more, and the retry fills the same place', () => {
    for (const wrong of [BROKEN, '{"points":', '[]']) {
      const answer = new Answer();
      const call = { id: 'call_1', name: 'key_points', arguments: wrong };
      const repairs = answer.assembler.finishRound([call]);
      assert.deepEqual(
        repairs.map((repair) => repair.call),
        [call],
      );
      assert.ok((repairs[0]?.details.length ?? 0) > 0);
      assert.deepEqual(answer.completed, []);
      answer.assembler.componentStarted({ id: 'call_2', name: 'key_points' });
      assert.deepEqual(answer.assembler.finishRound([{ id: 'call_2', name: 'key_points', arguments: POINTS }]), []);
      answer.assembler.finish();
      assert.deepEqual(
        answer.blocks().map((block) => block.block_type),
        ['key_points'],
      );
    }
  });

  test('a second body that does not fit becomes text with the words it held', () => {
    const answer = new Answer();
    assert.equal(answer.assembler.finishRound([{ id: 'call_1', name: 'key_points', arguments: BROKEN }]).length, 1);
    assert.deepEqual(answer.assembler.finishRound([{ id: 'call_2', name: 'key_points', arguments: BROKEN }]), []);
    const [block] = answer.blocks();
    assert.equal(block?.block_type, 'text');
    assert.match(String(block?.body.md), /Order early in December/);
  });

  test('a retry that never comes, or a round cut off, still completes the block', () => {
    const forgotten = new Answer();
    forgotten.assembler.finishRound([{ id: 'call_1', name: 'key_points', arguments: BROKEN }]);
    forgotten.assembler.finishRound([]);
    assert.deepEqual(forgotten.bodies(), [{ md: 'Order early in December' }]);

    const cutOff = new Answer();
    cutOff.assembler.componentStarted({ id: 'call_1', name: 'key_points' });
    cutOff.assembler.finish();
    assert.deepEqual(
      cutOff.blocks().map((block) => block.block_type),
      ['text'],
    );
  });

  test('every announced block completes, whatever the model does and whatever the client draws', () => {
    const call = fc.record({
      name: fc.constantFrom('key_points', 'tags', 'no_such_component'),
      arguments: fc.constantFrom(POINTS, BROKEN, '', '{', 'null', '{"points":[]}'),
      announced: fc.boolean(),
    });
    const round = fc.record({ text: fc.constantFrom('', 'Hello ', '\n\n'), calls: fc.array(call, { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(round, { maxLength: 6 }), fc.boolean(), (rounds, drawsText) => {
        const answer = new Answer(drawsText ? {} : { components: new Set(['key_points', 'tags']) });
        rounds.forEach(({ text, calls }, number) => {
          if (text !== '') answer.assembler.text(text);
          const made = calls.map((each, index) => ({ ...each, id: `call_${number}_${index}` }));
          for (const each of made) if (each.announced) answer.assembler.componentStarted(each);
          answer.assembler.finishRound(made.map(({ id, name, arguments: written }) => ({ id, name, arguments: written })));
        });
        answer.assembler.finish();
        assert.equal(answer.blocks().length, answer.assembler.count);
      }),
      { numRuns: 300 },
    );
  });

  test('a block of the server itself takes the next place and is answered by its id', () => {
    const answer = new Answer();
    answer.assembler.text('Shall I?');
    const id = answer.assembler.place('tags', { items: [{ id: 'new', label: 'New' }] });
    assert.deepEqual(
      answer.blocks().map((block) => [block.id, block.block_type]),
      [
        ['blk_0', 'text'],
        [id, 'tags'],
      ],
    );
  });
});
