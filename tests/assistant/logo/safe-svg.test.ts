import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { safeSvg as makeSafe } from '../../../assistant/logo/safe-svg.ts';
import { purifySvg, SVG_DEPTH_MAX, SVG_ELEMENTS_MAX, SVG_PICTURES_MAX } from '../../../assistant/logo/svg-purifier.ts';
import type { ErrorCode } from '../../../protocol/errors.ts';
import { png, svg } from './image-bytes.ts';

const safeSvg = (bytes: Buffer) => makeSafe(bytes, 'org_1');
const dataUri = (bytes: Buffer, type = 'png') => `data:image/${type};base64,${bytes.toString('base64')}`;

async function purified(inside: string, attributes?: string): Promise<string> {
  return (await purifySvg(svg(inside, attributes))).text;
}

/** The SVG with this inside keeps its one rectangle and nothing that matches `forbidden`. */
async function assertDisarmed(inside: string, forbidden: RegExp): Promise<void> {
  const text = await purified(`${inside}<rect id="kept"/>`);
  assert.match(text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*>.*<rect id="kept"\/><\/svg>$/s);
  assert.doesNotMatch(text, forbidden);
}

const HOSTILE: Readonly<Record<string, readonly [inside: string, forbidden: RegExp]>> = {
  'a script': ['<script>alert(1)</script>', /script|alert/],
  'a script in another case': ['<SCRIPT>alert(1)</SCRIPT><ScRiPt>alert(1)</ScRiPt>', /script|alert/i],
  'a script by address': ['<script href="https://evil.example/x.js"/><script xlink:href="data:text/javascript,alert(1)"/>', /script|evil/],
  'a script under a prefix': ['<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>', /script|alert/],
  'a script of XHTML': ['<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>', /script|alert/],
  'a handler': ['<rect onclick="alert(1)" onload="alert(1)" ONERROR="alert(1)"/>', /on(click|load|error)|alert/i],
  'a handler spelt with entities': ['<rect onclick="&#97;lert(1)"/>', /onclick|lert/],
  'foreign content': ['<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><p>hi</p></body></foreignObject>', /foreign|body|hi/i],
  'foreign content with a frame': [
    '<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://evil.example"/></foreignObject>',
    /iframe|evil/,
  ],
  'a link that acts': ['<a href="javascript:alert(1)"><circle r="1"/></a>', /javascript|alert/],
  'a link that acts, spelt with entities and a tab': ['<a xlink:href="java&#9;script&#58;alert(1)"><circle r="1"/></a>', /script|alert/],
  'a link that leads away': ['<a href="https://evil.example"><circle r="1"/></a>', /evil/],
  'an image from outside': ['<image href="https://evil.example/track.png"/>', /evil/],
  'an image from outside, without a scheme': ['<image xlink:href="//evil.example/track.png"/>', /evil/],
  'an SVG inside an image': [`<image href="${dataUri(Buffer.from(svg('<rect/>')), 'svg+xml')}"/>`, /data:/],
  'HTML inside an image': ['<image href="data:text/html;base64,PHNjcmlwdD4="/>', /data:/],
  'an SVG called a PNG': [`<image href="${dataUri(Buffer.from(svg('<rect/>')))}"/>`, /data:/],
  'a picture for what shows none': [`<rect href="${dataUri(png())}"/>`, /data:/],
  'a use from outside': ['<use href="https://evil.example/sprite.svg#a"/>', /evil/],
  'a use of data': ['<use xlink:href="data:image/svg+xml;base64,PHN2Zy8+#a"/>', /data:/],
  'a filter image from outside': ['<filter id="f"><feImage href="https://evil.example/x.png"/></filter>', /evil/],
  'an animation that sets an address': ['<a id="x"><animate attributeName="href" values="javascript:alert(1)"/></a>', /animate|script/],
  'a set': ['<set attributeName="onmouseover" to="alert(1)"/>', /<set|alert/],
  'an animated transform': ['<animateTransform attributeName="transform" begin="x.click"/>', /animate/i],
  'a handler element': ['<handler xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load">alert(1)</handler>', /handler|alert/],
  'a sheet that imports': ['<style>@import url("https://evil.example/x.css");</style>', /import|evil/],
  'a sheet that imports, escaped': ['<style>@\\69mport "https://evil.example/x.css";</style>', /evil/],
  'a sheet in CDATA that imports': ['<style><![CDATA[@import "//evil.example/x.css";]]></style>', /evil/],
  'a font from outside': ['<style>@font-face{font-family:x;src:url(https://evil.example/x.woff)}</style>', /evil/],
  'a rule with an address': ['<style>rect{fill:url(https://evil.example/#a)}</style>', /evil/],
  'a rule with an escaped address': ['<style>rect{fill:u\\72l(https://evil.example/#a)}</style>', /evil/],
  'a rule with an image set': ['<style>rect{background:image-set("https://evil.example/a" 1x)}</style>', /evil/],
  'a style with an address': ['<rect style="background:url(//evil.example/a)"/>', /evil/],
  'a style that acts': ['<rect style="width:expression(alert(1))"/>', /expression|alert/],
  'a fill with an address': ['<rect fill="url(https://evil.example/#a)"/>', /evil/],
  'a fill with an escaped address': ['<rect fill="u\\72l(https://evil.example/#a)"/>', /evil/],
  'a mask with an address after a fragment': ['<rect mask="url(#a), url(https://evil.example/#a)"/>', /evil/],
  'a cursor from outside': ['<rect cursor="url(https://evil.example/c.cur), auto"/>', /evil/],
  'a sheet by processing instruction': ['<?xml-stylesheet href="https://evil.example/x.css"?>', /evil|xml-stylesheet/],
  'a base': ['<g xml:base="https://evil.example/"><use href="#a"/></g>', /evil/],
  'other elements that load': [
    '<iframe src="//evil.example"/><embed src="//evil.example"/><object data="//evil.example"/><audio src="//evil.example"/>',
    /evil/,
  ],
  'a comment that closes itself in HTML': ['<!--><img src=x onerror=alert(1)>-->', /img|alert/],
  'a title that closes itself in HTML': ['<title>&lt;/title>&lt;img src=x onerror=alert(1)></title>', /<img/],
  'a sheet that closes itself in HTML': ['<style>a{}&lt;/style>&lt;img src=x onerror=alert(1)></style>', /img/],
};

describe('LOGO-6: an SVG is stored without what acts or reaches outside', () => {
  for (const [what, [inside, forbidden]] of Object.entries(HOSTILE)) {
    test(`it loses ${what}`, () => assertDisarmed(inside, forbidden));
  }

  test('LOGO-6: handlers of the root go too', async () => {
    assert.doesNotMatch(await purified('<rect/>', 'viewBox="0 0 1 1" onload="alert(1)"'), /onload/);
  });

  test('LOGO-6: what is safe once stays as it is when it is sent again', async () => {
    for (const [inside] of Object.values(HOSTILE)) {
      const { text } = await purifySvg(svg(`${inside}<rect/>`));
      assert.equal((await purifySvg(text)).text, text);
    }
  });
});

describe('LOGO-6: what a drawing needs stays', () => {
  const kept: Readonly<Record<string, string>> = {
    'gradients and clip paths':
      '<defs><linearGradient id="g" x1="0"><stop offset="0" stop-color="#f00"/></linearGradient><clipPath id="c"><path d="M0 0h4v4z"/></clipPath></defs><g clip-path="url(#c)"><rect fill="url(#g)" transform="translate(1 2) rotate(45)"/></g>',
    'reuse of an own element': '<defs><path id="p" d="M0 0h4v4z"/></defs><use xlink:href="#p"/><use href="#p" x="3"/>',
    'a sheet of classes':
      '<style>.a{fill:url(#g);stroke:rgb(1,2,3)} @media (prefers-color-scheme: dark){.a{fill:#fff}}</style><rect class="a"/>',
    filters: '<filter id="f"><feGaussianBlur stdDeviation="2"/></filter><circle r="2" filter="url(#f)"/>',
    words: '<title>Acme (UK)</title><text x="1" y="2" font-family="Inter, sans-serif" style="letter-spacing:1px">Acme &amp; Söhne</text>',
    'an embedded picture': `<image width="3" height="2" href="${dataUri(png())}"/>`,
  };
  for (const [what, inside] of Object.entries(kept)) {
    test(what, async () => assert.equal(await purified(inside), svg(inside)));
  }

  test('LOGO-6: a sheet that was written in CDATA', async () => {
    assert.equal(
      await purified('<style><![CDATA[.a{fill:red}]]></style><rect class="a"/>'),
      svg('<style>.a{fill:red}</style><rect class="a"/>'),
    );
  });

  test('LOGO-5: an SVG measures its own width and height, else its viewBox', async () => {
    const sizeOf = async (attributes: string) => {
      const { width, height } = await purifySvg(svg('<rect/>', attributes));
      return [width, height];
    };
    assert.deepEqual(await sizeOf('width="48px" height="24" viewBox="0 0 9 9"'), [48, 24]);
    assert.deepEqual(await sizeOf('width="100%" height="100%" viewBox="0, 0, 30.5 10"'), [31, 10]);
  });
});

describe('LOGO-8: what cannot be made a safe SVG is refused', () => {
  const many = (count: number) => '<path/>'.repeat(count);
  const laughs = Array.from({ length: 9 }, (_, i) => `<g id="l${i + 1}">${`<use href="#l${i}"/>`.repeat(10)}</g>`).join('');
  /** Told by a look at the text, before a thread is started for it. */
  const atSight: Readonly<Record<string, readonly [document: string | Buffer, code: ErrorCode]>> = {
    entities: [`<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${svg('<text>&b;</text>')}`, 'unsupported_type'],
    'an external entity': [`<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg('<text>&x;</text>')}`, 'unsupported_type'],
    'another encoding': [Buffer.from(`\ufeff${svg('<rect/>')}`, 'utf16le'), 'unsupported_type'],
    'bytes that are no text': [Buffer.concat([Buffer.from(svg('<rect/>')), Buffer.from([0xff])]), 'unsupported_type'],
    'two DOCTYPEs': [`<!DOCTYPE svg>${svg('<!DOCTYPE svg><rect/>')}`, 'unsupported_type'],
    'a DOCTYPE of its own entities behind another': [`<!-- <!DOCTYPE svg> --><!DOCTYPE svg [ ]>${svg('<rect/>')}`, 'unsupported_type'],
    'far too many tags': [svg(many(3 * SVG_ELEMENTS_MAX)), 'too_large'],
  };
  for (const [what, [document, code]] of Object.entries(atSight)) {
    test(what, () => assert.rejects(safeSvg(Buffer.from(document as string)), { name: 'Refusal', code }));
  }

  test('LOGO-8: ten thousand DOCTYPEs, read in one pass', { timeout: 10_000 }, async () => {
    for (const end of ['', '>', '[', `>${svg('<rect/>')}`]) {
      const document = `<svg ${`<!DOCTYPE${'a'.repeat(100)}`.repeat(10_000)}${end}`;
      await assert.rejects(safeSvg(Buffer.from(document)), { name: 'Refusal', code: 'unsupported_type', message: /DOCTYPE/ });
    }
  });

  const refused: Readonly<Record<string, readonly [document: string, code: ErrorCode]>> = {
    'broken XML': [svg('<rect'), 'unsupported_type'],
    'text after the root': [`${svg('<rect/>')}<p/>`, 'unsupported_type'],
    'another root': ['<html><svg xmlns="http://www.w3.org/2000/svg"/></html>', 'unsupported_type'],
    'no namespace': ['<svg viewBox="0 0 1 1"><rect/></svg>', 'unsupported_type'],
    'a prefixed root': ['<s:svg xmlns:s="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><s:rect/></s:svg>', 'unsupported_type'],
    'an undeclared entity': [svg('<text>&x;</text>'), 'unsupported_type'],
    'nothing to draw': [svg('<script>alert(1)</script>'), 'unsupported_type'],
    'no size': [svg('<rect/>', 'width="100%"'), 'unsupported_type'],
    'too many elements': [svg(many(SVG_ELEMENTS_MAX)), 'too_large'],
    'too deep a nest': [svg('<g>'.repeat(SVG_DEPTH_MAX) + '</g>'.repeat(SVG_DEPTH_MAX)), 'too_large'],
    'uses that unfold into billions': [svg(`<rect id="l0"/>${laughs}`), 'too_large'],
    'a use of itself': [svg('<g id="a"><use href="#a"/></g>'), 'too_large'],
    'patterns that fill each other': [
      svg('<pattern id="a"><rect fill="url(#b)"/></pattern><pattern id="b"><rect fill="url(#a)"/></pattern><rect fill="url(#a)"/>'),
      'too_large',
    ],
    'a picture inside that decodes to too many pixels': [svg(`<image href="${dataUri(png(30_000, 30_000))}"/>`), 'too_large'],
    'too many pictures inside': [svg(`<image href="${dataUri(png())}"/>`.repeat(SVG_PICTURES_MAX + 1)), 'too_large'],
  };
  for (const [what, [document, code]] of Object.entries(refused)) {
    test(what, () => assert.rejects(purifySvg(document), { name: 'Refusal', code }));
  }

  test('LOGO-8: the reader passes the refusal on', () =>
    assert.rejects(safeSvg(Buffer.from(svg('<script/>'))), { name: 'Refusal', code: 'unsupported_type', message: /left to draw/ }));

  test('LOGO-8: of a flood of SVGs some wait and the rest are told to come again; others are not kept waiting by it', async () => {
    const bytes = Buffer.from(svg('<rect/>'));
    const flood = Promise.allSettled(Array.from({ length: 12 }, () => safeSvg(bytes)));
    assert.equal((await makeSafe(bytes, 'org_2')).height, 12);
    const codes = (await flood).map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.width : outcome.reason.code));
    assert.deepEqual(codes, [...Array(9).fill(24), ...Array(3).fill('rate_limited')]);
    assert.equal((await safeSvg(bytes)).height, 12);
  });
});
