/** Pictures as SVG: well-formed and harmless, whatever is in the names of states and events. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import { readPicture } from '../../machines/diagrams/description.ts';
import { pictureSvg } from '../../machines/diagrams/svg.ts';
import { MACHINES } from '../../machines/index.ts';
import type { MachinePicture } from '../../machines/picture.ts';

/** What of a parsed document is looked at; jsdom's own types would bring all of a browser's. */
interface Parsed {
  querySelectorAll(selector: string): Iterable<{ readonly localName: string; readonly textContent: string | null }>;
}

const { JSDOM } = createRequire(import.meta.url)('jsdom') as {
  JSDOM: new () => { readonly window: { readonly DOMParser: new () => { parseFromString(text: string, type: string): Parsed } } };
};

/** One for all: a window takes longer than what is read in it. */
const parser = new new JSDOM().window.DOMParser();

/** @throws AssertionError for what is not well-formed. */
function parse(svg: string): Parsed {
  const document = parser.parseFromString(svg, 'image/svg+xml');
  assert.deepEqual(textsOf(document, 'parsererror'), [], 'well-formed');
  return document;
}

function textsOf(document: Parsed, selector: string): (string | null)[] {
  return Array.from(document.querySelectorAll(selector), ({ textContent }) => textContent);
}

/** A picture in which each name is a given one. */
function named(name: string): MachinePicture {
  const points = [
    { x: 10, y: 10 },
    { x: 10, y: 40 },
    { x: 50, y: 40 },
  ];
  const box = { x: 10, y: 10, width: 90, height: 60 };
  return {
    machine: name,
    version: '0123456789abcdef',
    width: 200,
    height: 100,
    states: [
      { id: name, label: name, final: true, ...box, rows: [{ event: name, guard: name, refusal: name, y: 38 }] },
      { id: 'other', label: 'other', final: false, ...box, rows: [] },
    ],
    edges: [{ from: name, to: 'other', labels: [{ event: name, guard: name, x: 10, y: 20, width: 60 }], points }],
    outlines: [],
    start: [{ x: 5, y: 5, to: name, points }],
    regions: [name, 'other'],
  };
}

const HOSTILE = fc.constantFrom(
  '</text><script>alert(1)</script>',
  '"><a href="x">',
  "' onload='x()",
  '&lt;&#0;&amp;',
  ']]>',
  '<!--',
  '<![CDATA[',
  '%s$1$&',
);

test('DIAGRAM-6: names stand in the SVG as text, whatever they hold', () => {
  fc.assert(
    fc.property(fc.oneof(HOSTILE, fc.string({ unit: 'grapheme', minLength: 1 })), (name) => {
      const svg = parse(pictureSvg(named(name), name));
      assert.deepEqual(textsOf(svg, 'title'), [name]);
      assert.deepEqual(textsOf(svg, 'text.name'), [name, 'other']);
      assert.deepEqual(textsOf(svg, 'text.refusal'), [name]);
      assert.deepEqual(textsOf(svg, 'tspan'), [` [${name}]`]);
      const elements = new Set(Array.from(svg.querySelectorAll('*'), ({ localName }) => localName));
      const known = new Set(['svg', 'title', 'style', 'defs', 'marker', 'path', 'rect', 'circle', 'text', 'tspan']);
      assert.deepEqual(
        [...elements].filter((element) => !known.has(element)),
        [],
      );
    }),
  );
});

test('DIAGRAM-6: what XML cannot hold is replaced', () => {
  for (const broken of ['<svg>', '<svg>\u0000</svg>', '<svg a="<"/>']) assert.throws(() => parse(broken), /well-formed/);
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (name) => void parse(pictureSvg(named(name), name))));
  assert.deepEqual(textsOf(parse(pictureSvg(named('\u0000\ud800\r\uffff'), 'x')), 'text.refusal'), ['\ufffd\ufffd\ufffd\ufffd']);
});

for (const listed of MACHINES) {
  const picture = readPicture(listed);
  const svg = pictureSvg(picture, listed.title);
  const parsed = parse(svg);

  test(`DIAGRAM-6: the SVG of ${listed.name} loads nothing and runs nothing, and has a light and a dark scheme`, () => {
    assert.deepEqual(textsOf(parsed, 'title'), [listed.title]);
    assert.deepEqual([...new Set(svg.match(/url\([^)]*\)/g))], ['url(#arrow)']);
    assert.doesNotMatch(svg, /href|@import|@font-face|<script|<image|<foreignObject|\son[a-z]+=/);
    assert.match(svg, /@media\(prefers-color-scheme:dark\)/);
  });

  test(`DIAGRAM-2, DIAGRAM-3: the SVG of ${listed.name} draws every state, edge, label, row and mark of its picture`, () => {
    const count = (selector: string) => textsOf(parsed, selector).length;
    const labels = picture.edges.flatMap((edge) => edge.labels);
    const rows = picture.states.flatMap((state) => state.rows);
    const guards = [...labels, ...rows].filter(({ guard }) => guard !== undefined).length;
    const { regions = [], states } = picture;
    assert.deepEqual(textsOf(parsed, 'text.name').sort(), states.map(({ label }) => label).sort());
    assert.equal(count('path.edge'), picture.edges.length + picture.start.length);
    assert.equal(count('text.event'), labels.length + rows.length + regions.length);
    assert.equal(count('.guard'), guards + (regions.length === 0 ? 0 : states.length));
    assert.equal(count('text.refusal'), rows.filter(({ refusal }) => refusal !== undefined).length);
    assert.equal(count('rect.rim'), states.filter(({ final }) => final).length);
    // One a level, and one for each region of a matrix.
    assert.equal(count('circle.dot'), picture.start.length + regions.length);
    assert.equal(count('circle'), picture.start.length + regions.length * states.length);
  });
}
