/** SVG logos of strangers: what is kept of one is a picture, and drawing it reaches nothing and takes a bounded time. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import sharp from 'sharp';
import { examineLogo } from '../../../assistant/images/images.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { png, svg } from './image-bytes.ts';

const dataUri = (bytes: Buffer, type = 'png') => `data:image/${type};base64,${bytes.toString('base64')}`;
const KEPT = '<rect width="6" height="6" fill="#f00"/>';

async function pixelsOf(document: string | Buffer): Promise<Buffer> {
  const { mediaType, bytes } = await examineLogo(Buffer.from(document as string), 'org_1');
  assert.equal(mediaType, 'image/png');
  return sharp(bytes).raw().toBuffer();
}

/** Each acts, or names what lies outside; none draws anything. OUTSIDE becomes the address of a server. */
const HOSTILE: Readonly<Record<string, string>> = {
  'a script': '<script>alert(1)</script>',
  'a script in another case': '<SCRIPT>alert(1)</SCRIPT><ScRiPt>alert(1)</ScRiPt>',
  'a script by address': '<script href="http://OUTSIDE/x.js"/><script xlink:href="data:text/javascript,alert(1)"/>',
  'a script under a prefix': '<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>',
  'a script of XHTML': '<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>',
  'a handler': '<rect onclick="alert(1)" onload="alert(1)" ONERROR="alert(1)"/>',
  'a handler spelt with entities': '<rect onclick="&#97;lert(1)"/>',
  'foreign content': '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><p>hi</p></body></foreignObject>',
  'foreign content with a frame': '<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="http://OUTSIDE"/></foreignObject>',
  'a link that acts': '<a href="javascript:alert(1)"><circle r="1"/></a>',
  'a link that acts, spelt with entities and a tab': '<a xlink:href="java&#9;script&#58;alert(1)"><circle r="1"/></a>',
  'a link that leads away': '<a href="http://OUTSIDE"><circle r="1"/></a>',
  'an image from outside': '<image href="http://OUTSIDE/track.png"/>',
  'an image from outside, without a scheme': '<image xlink:href="//OUTSIDE/track.png"/>',
  'an SVG inside an image': `<image href="${dataUri(Buffer.from(svg('<rect/>')), 'svg+xml')}"/>`,
  'HTML inside an image': '<image href="data:text/html;base64,PHNjcmlwdD4="/>',
  'an SVG called a PNG': `<image href="${dataUri(Buffer.from(svg('<rect/>')))}"/>`,
  'a picture for what shows none': `<rect href="${dataUri(png())}"/>`,
  'a use from outside': '<use href="http://OUTSIDE/sprite.svg#a"/>',
  'a use of data': '<use xlink:href="data:image/svg+xml;base64,PHN2Zy8+#a"/>',
  'a filter image from outside': '<filter id="f"><feImage href="http://OUTSIDE/x.png"/></filter>',
  'an animation that sets an address': '<a id="x"><animate attributeName="href" values="javascript:alert(1)"/></a>',
  'a set': '<set attributeName="onmouseover" to="alert(1)"/>',
  'an animated transform': '<animateTransform attributeName="transform" begin="x.click"/>',
  'a handler element': '<handler xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load">alert(1)</handler>',
  'a sheet that imports': '<style>@import url("http://OUTSIDE/x.css");</style>',
  'a sheet that imports, escaped': '<style>@\\69mport "http://OUTSIDE/x.css";</style>',
  'a sheet in CDATA that imports': '<style><![CDATA[@import "//OUTSIDE/x.css";]]></style>',
  'a font from outside': '<style>@font-face{font-family:x;src:url(http://OUTSIDE/x.woff)}</style>',
  'a rule with an address': '<style>rect{fill:url(http://OUTSIDE/#a)}</style>',
  'a rule with an escaped address': '<style>rect{fill:u\\72l(http://OUTSIDE/#a)}</style>',
  'a rule with an image set': '<style>rect{background:image-set("http://OUTSIDE/a" 1x)}</style>',
  'a style with an address': '<rect style="background:url(//OUTSIDE/a)"/>',
  'a style that acts': '<rect style="width:expression(alert(1))"/>',
  'a fill with an address': '<rect fill="url(http://OUTSIDE/#a)"/>',
  'a fill with an escaped address': '<rect fill="u\\72l(http://OUTSIDE/#a)"/>',
  'a mask with an address after a fragment': '<rect mask="url(#a), url(http://OUTSIDE/#a)"/>',
  'a cursor from outside': '<rect cursor="url(http://OUTSIDE/c.cur), auto"/>',
  'a sheet by processing instruction': '<?xml-stylesheet href="http://OUTSIDE/x.css"?>',
  'a base': '<g xml:base="http://OUTSIDE/"><use href="#a"/></g>',
  'other elements that load': '<iframe src="//OUTSIDE"/><embed src="//OUTSIDE"/><object data="//OUTSIDE"/><audio src="//OUTSIDE"/>',
  'a comment that closes itself in HTML': '<!--><img src=x onerror=alert(1)>-->',
  'a title that closes itself in HTML': '<title>&lt;/title>&lt;img src=x onerror=alert(1)></title>',
  'a sheet that closes itself in HTML': '<style>a{}&lt;/style>&lt;img src=x onerror=alert(1)></style>',
};

const RULE_FILL = /^a rule with an (?:escaped )?address$/;

test('LOGO-6, LOGO-7: an SVG becomes the picture that it is without what acts or reaches outside, and drawing it asks nobody', async (t) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => response.end(String(asked.push(request.url))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const file = join(temporaryDir(t), 'blue.png');
  writeFileSync(
    file,
    await sharp({ create: { width: 9, height: 9, channels: 3, background: '#00f' } })
      .png()
      .toBuffer(),
  );
  const files = [file, `file://${file}`].map((address) => [`the file ${address}`, `<image width="24" height="12" href="${address}"/>`]);
  const include = `<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="${file}" parse="text"/>`;
  const wanted = await pixelsOf(svg(KEPT));
  for (const [what, inside] of [...Object.entries(HOSTILE), ...files, ['a file by inclusion', include]] as [string, string][]) {
    const reaching = inside.replaceAll('OUTSIDE', `127.0.0.1:${(server.address() as AddressInfo).port}`);
    // A rule whose fill is an address takes the colour of every rectangle.
    if (RULE_FILL.test(what))
      await assert.rejects(pixelsOf(svg(reaching + KEPT)), { code: 'unsupported_type', message: /shows nothing/ }, what);
    else assert.ok((await pixelsOf(svg(reaching + KEPT))).equals(wanted), what);
  }
  assert.deepEqual(asked, []);
});

describe('LOGO-6: what a drawing needs is drawn', () => {
  const GREEN = '<rect width="6" height="6" fill="#0f0"/>';
  const kept: Readonly<Record<string, string>> = {
    'gradients and clip paths':
      '<defs><linearGradient id="g"><stop stop-color="#0f0"/></linearGradient><clipPath id="c"><path d="M0 0h6v6H0z"/></clipPath></defs><rect width="9" height="9" clip-path="url(#c)" fill="url(#g)"/>',
    'reuse of an own element': `<defs><g id="p">${GREEN}</g></defs><use xlink:href="#p"/><use href="#p"/>`,
    'a sheet of classes': '<style><![CDATA[.a{fill:rgb(0,255,0)}]]></style><rect width="6" height="6" class="a"/>',
    'an embedded picture': `<image width="6" height="6" preserveAspectRatio="none" href="OWN"/>`,
  };
  for (const [what, inside] of Object.entries(kept)) {
    test(what, async () => {
      const own = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#0f0' } })
        .png()
        .toBuffer();
      const drawn = await pixelsOf(svg(inside.replace('OWN', dataUri(own))));
      const [at, outside] = [4 * (1_024 * 100 + 100), 4 * (1_024 * 400 + 900)];
      assert.deepEqual([...drawn.subarray(at, at + 4), drawn[outside + 3]], [0, 255, 0, 255, 0]);
    });
  }

  test('LOGO-2: it may come with a byte order mark, an XML declaration, a comment and the standard’s DOCTYPE', async () => {
    const before = `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<!-- Made by hand -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n`;
    assert.ok((await pixelsOf(before + svg(KEPT))).equals(await pixelsOf(svg(KEPT))));
  });

  test('LOGO-5: it has the proportions of its width and height, else of its viewBox', async () => {
    for (const [attributes, size] of [
      ['width="48px" height="24" viewBox="0 0 9 9"', [1_024, 512]],
      ['width="100%" height="100%" viewBox="0, 0, 10 20"', [512, 1_024]],
    ] as const) {
      const { width, height } = await examineLogo(Buffer.from(svg(KEPT, attributes)), 'org_1');
      assert.deepEqual([width, height], size);
    }
  });
});

describe('LOGO-8: what cannot be drawn is refused', () => {
  const laughs = Array.from({ length: 9 }, (_, i) => `<g id="l${i + 1}">${`<use href="#l${i}"/>`.repeat(10)}</g>`).join('');
  const billion = 'bcdefghij'.split('').map((name, i) => `<!ENTITY ${name} "${`&${'abcdefghi'[i]};`.repeat(10)}">`);
  const refused: Readonly<Record<string, readonly [document: string | Buffer, message: RegExp]>> = {
    'an external entity': [`<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg(`<text>&x;</text>${KEPT}`)}`, /damaged/],
    'entities that unfold into billions': [
      `<!DOCTYPE svg [<!ENTITY a "a">${billion.join('')}]>${svg(`<text>&j;</text>${KEPT}`)}`,
      /damaged/,
    ],
    'bytes that are no text': [Buffer.concat([Buffer.from(svg(KEPT)), Buffer.from([0xff])]), /damaged/],
    'broken XML': [svg('<rect'), /damaged/],
    'text after the root': [`${svg(KEPT)}<p/>`, /damaged/],
    'another root': [`<html>${svg(KEPT)}</html>`, /damaged/],
    'an undeclared entity': [svg('<text>&x;</text>'), /damaged/],
    'too deep a nest': [svg(`${'<g>'.repeat(20_000)}${KEPT}${'</g>'.repeat(20_000)}`), /damaged/],
    'nothing to see': [svg('<script>alert(1)</script>'), /shows nothing/],
    'patterns that fill each other': [
      svg(
        '<pattern id="a" width="1" height="1"><rect fill="url(#b)"/></pattern><pattern id="b" width="1" height="1"><rect fill="url(#a)"/></pattern><rect width="9" height="9" fill="url(#a)"/>',
      ),
      /shows nothing/,
    ],
    'a picture inside that decodes to too many pixels': [
      svg(`<image width="9" height="9" href="${dataUri(png(30_000, 30_000))}"/>`),
      /shows/,
    ],
    'uses that unfold into billions': [svg(`<rect id="l0" width="1" height="1"/>${laughs}`), /damaged|complex/],
  };
  for (const [what, [document, message]] of Object.entries(refused)) {
    test(what, () => assert.rejects(pixelsOf(document), { name: 'Refusal', message }));
  }

  test('LOGO-3: more units than a logo may have pixels', () =>
    assert.rejects(pixelsOf(svg(KEPT, 'viewBox="0 0 4097 10"')), { name: 'Refusal', code: 'too_large' }));

  test('LOGO-8: of a flood of SVGs some wait and the rest are told to come again; others are not kept waiting by it', async () => {
    const bytes = Buffer.from(svg(KEPT));
    // Both parsers have started.
    await Promise.all(['org_1', 'org_2'].map((asker) => examineLogo(bytes, asker)));
    let drawn = 0;
    const draw = async () => {
      const logo = await examineLogo(bytes, 'org_1');
      drawn += 1;
      return logo;
    };
    const flood = Promise.allSettled(Array.from({ length: 12 }, draw));
    assert.equal((await examineLogo(bytes, 'org_2')).height, 512);
    assert.ok(drawn < 9, 'the flood was not over by then');
    const codes = (await flood).map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.width : outcome.reason.code));
    assert.deepEqual(codes, [...Array(9).fill(1_024), ...Array(3).fill('rate_limited')]);
  });
});
