import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { embeddedImage, fragmentOf, fragmentsIn, isSafeCss } from '../../../assistant/logo/svg-references.ts';

test('LOGO-7: an address is safe when it names an element of the document', () => {
  assert.equal(fragmentOf('#a'), 'a');
  assert.equal(fragmentOf('  #clip-0_1  '), 'clip-0_1');
  for (const address of ['', '#', 'a#b', '//host/#a', 'https://host/#a', '#a b', '#a#b', 'javascript:1#a']) {
    assert.equal(fragmentOf(address), undefined, address);
  }
});

test('LOGO-7: only raster images in base64 are embedded', () => {
  assert.deepEqual(embeddedImage('data:image/png;base64,aGk='), Buffer.from('hi'));
  assert.deepEqual(embeddedImage(' data:image/jpg;base64,aG\n k= '), Buffer.from('hi'));
  for (const address of [
    'data:image/svg+xml;base64,aGk=',
    'data:image/png,hi',
    'data:text/html;base64,aGk=',
    'data:image/png;x;base64,aGk=',
    '#a',
  ]) {
    assert.equal(embeddedImage(address), undefined, address);
  }
});

test('LOGO-7: CSS that stays inside the document is kept', () => {
  for (const css of [
    '#ff0000',
    'url(#a)',
    'url( "#a" ) #fff',
    "filter:url('#b') drop-shadow(0 0 2px rgba(0,0,0,.5))",
    '.a:not(.b):nth-child(2n+1)>rect{transform:translate(1px,2px) scale(calc(1 + 2))}',
    '@media (min-width: 10px) and (prefers-color-scheme:dark){a{fill:var(--x)}}',
    'matrix(1 0 0 1 0 0)',
  ]) {
    assert.equal(isSafeCss(css), true, css);
  }
  assert.deepEqual(fragmentsIn('a{fill:url(#x);mask:URL( "#y" )} b{fill:url(z)}'), ['x', 'y']);
});

test('LOGO-7: CSS with an address, an unknown function, an escape or an at-rule is not', () => {
  for (const css of [
    'url(a)',
    'url("#a" https://b)',
    'url("#a',
    'URL(//b)',
    'image-set("a" 1x)',
    'element(#a)',
    'src("a")',
    '@import "a"',
    '@media\\20 x',
    'u\\72l(#a)',
    '<a',
    'url(#a',
    'url(\'#a")',
    'xurl(#a)',
    '-moz-binding:url(x)',
  ]) {
    assert.equal(isSafeCss(css), false, css);
  }
});

test('LOGO-7: whatever surrounds it, an outside address makes CSS unsafe', () => {
  const part = fc.constantFrom(
    'a{fill:',
    '}',
    ';',
    ' ',
    '"',
    "'",
    '(',
    ')',
    '/*',
    '*/',
    'url(#a)',
    'rgb(1,2,3)',
    ',',
    '#a',
    '\n',
    'url',
    '@media',
  );
  const around = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
  const address = fc.constantFrom(
    'url(https://evil.example)',
    'url("//evil.example/#a")',
    "URL('data:image/svg+xml,x')",
    'image-set("//evil.example" 1x)',
  );
  fc.assert(
    fc.property(around, address, around, (before, hostile, after) => isSafeCss(before + hostile + after) === false),
    { numRuns: 500 },
  );
});
