/** What of the drawings needs no browser: the way of a map, prices and times, what they weigh. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import fc from 'fast-check';
import { decodePolyline } from '../../../../web/sdk/blocks/lazy/polyline.ts';
import { clockTime, leftWords, money } from '../../../../web/sdk/blocks/parts/formats.ts';
import { filled } from '../../../../web/sdk/blocks/words.ts';
import { projectRoot } from '../../../support/project-root.ts';

/** BLOCKVIEW-10. */
const FIRST_MAX_BYTES = 14_000;
const DRAWINGS_MAX_BYTES = 26_000;

test('BLOCKVIEW-11: a way is read as maps encode it', () => {
  // The example of the format's own description.
  assert.deepEqual(decodePolyline('_p~iF~ps|U_ulLnnqC_mqNvxq`@'), [
    { lat: 38.5, lng: -120.2 },
    { lat: 40.7, lng: -120.95 },
    { lat: 43.252, lng: -126.453 },
  ]);
});

test('BLOCKVIEW-11: a way that is none ends where it stops making sense, within the world', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200, unit: 'binary' }), (text) => {
      for (const { lat, lng } of decodePolyline(text)) assert.ok(Math.abs(lat) <= 90 && Math.abs(lng) <= 180);
    }),
  );
  const place = '_p~iF~ps|U';
  // A character of no way, half a point, a number without end, a place beyond the world: what follows is not read.
  for (const wrong of ['!???', '?', '~~~~~~~~??', place])
    assert.deepEqual(decodePolyline(place + wrong), [{ lat: 38.5, lng: -120.2 }], wrong);
});

test('BLOCKVIEW-2: a price or a time that cannot be written is shown as it came', () => {
  assert.equal(money({ amount: '49.00', currency: 'EUR' }, 'en'), '€49.00');
  assert.equal(money({ amount: '1.50', currency: 'no money' }, 'en'), '1.50 no money');
  assert.equal(clockTime('soon', 'en'), 'soon');
  assert.equal(clockTime('2026-11-23T09:30:00Z', 'en', 'Nowhere/Land'), '2026-11-23T09:30:00Z');
});

test('BLOCKVIEW-7: what is left is told in minutes and seconds, never less than nothing', () => {
  assert.equal(leftWords(245_000, 'en'), '4:05');
  assert.equal(leftWords(-1, 'en'), '0:00');
  assert.equal(leftWords(7_800_000, 'en'), '2 hr 10 min');
});

test('BLOCKVIEW-3: values that look like places of values are not filled again', () => {
  assert.equal(filled('Order {id}', { id: '{id} {when}' }), 'Order {id} {when}');
  assert.equal(filled('{constructor}', {}), '{constructor}');
});

test('BLOCKVIEW-10: the drawings and their style take at most 26,000 bytes, and what is large or rare is loaded when it is shown', async () => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: projectRoot(),
    stdin: {
      contents: "export * from './web/sdk/blocks/block-drawing.tsx'; export { default } from './web/sdk/look/blocks.css';",
      resolveDir: projectRoot(),
    },
    // Whoever draws has these already.
    external: ['preact', 'preact/*'],
    outdir: 'out',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.css': 'text' },
    metafile: true,
  });
  const outputs = Object.entries(metafile.outputs);
  const named = (part: string) =>
    outputs.flatMap(([path, { entryPoint }]) => (entryPoint?.includes(part) ? [path.slice('out'.length)] : []));
  const bytesWithout = (left: readonly string[]) =>
    outputFiles
      .filter(({ path }) => !left.some((each) => path.endsWith(each)))
      .reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
  assert.equal(named('/lazy/').length, 4);
  const first = bytesWithout(named('/lazy/'));
  assert.ok(first <= FIRST_MAX_BYTES, `${first} bytes`);
  const all = bytesWithout(named('/lazy/').filter((path) => !named('later-views').includes(path)));
  assert.ok(all <= DRAWINGS_MAX_BYTES, `${all} bytes`);
});

test('BLOCKVIEW-12: no class that the style of blocks gives a look is one that the style of the widget has, but for what both mean', () => {
  const classesIn = (file: string) => {
    const css = readFileSync(join(projectRoot(), 'web/sdk/look', file), 'utf8').replaceAll(/\/\*[^*]*\*\//g, '');
    return new Set(Array.from(css.matchAll(/\.([a-z][\w-]*)/g), ([, name = '']) => name));
  };
  const blocks = new Set([...classesIn('blocks.css'), ...classesIn('later-blocks.css')]);
  const widget = new Set([...classesIn('launcher.css'), ...classesIn('widget.css')]);
  assert.deepEqual([...blocks].filter((name) => widget.has(name)).sort(), ['button', 'icon', 'is-bad', 'unseen']);
});
