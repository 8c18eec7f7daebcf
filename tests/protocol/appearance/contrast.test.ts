/** Warnings of PUT /appearance: ratios against another implementation, fixes that pass, and an end to fixing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Color from 'colorjs.io';
import fc from 'fast-check';
import { oklch } from '../../../protocol/appearance/colour.ts';
import { completeTheme, deriveDark } from '../../../protocol/appearance/complete-theme.ts';
import {
  CONTRAST_PAIRS,
  type ContrastFix,
  type ContrastWarning,
  contrastWarnings,
  type Themes,
} from '../../../protocol/appearance/contrast.ts';
import { randomThemes } from './random-themes.ts';

const GOOD = { surface: '#ffffff', onSurface: '#111111', accent: '#0044cc', onAccent: '#ffffff' };
/** A round mends at least one pair and breaks less important ones at most; random themes take far fewer. */
const ROUNDS_MAX = 60;

function independentRatio(one: string, other: string): number {
  return new Color(one).contrastWCAG21(new Color(other));
}

function isDark(warning: ContrastWarning): boolean {
  return warning.what.includes('themeDark.');
}

function applied({ theme, themeDark }: Themes, { token, suggested }: ContrastFix): Themes {
  const [first = '', second] = token.split('.');
  return second === undefined
    ? { theme: { ...theme, [first]: suggested }, themeDark }
    : { theme, themeDark: { ...themeDark, [second]: suggested } };
}

function servedValue({ theme, themeDark }: Themes, { token }: ContrastFix): string | undefined {
  const [first = '', second] = token.split('.');
  const tokens = new Map(Object.entries(second === undefined ? completeTheme(theme) : deriveDark(theme, themeDark)));
  return tokens.get(second ?? first) as string | undefined;
}

test('APPEARANCE-7: known pairs get the ratios that WCAG gives them', () => {
  const warned = (onSurface: string) =>
    contrastWarnings({ theme: { ...GOOD, onSurface } }).find(({ check }) => check === 'text_on_surface');
  assert.equal(independentRatio('#000000', '#ffffff'), 21);
  assert.equal(warned('#000000'), undefined);
  const grey = warned('#777777');
  assert.equal(grey?.ratio, 4.48);
  assert.equal(grey?.minimum, 4.5);
  assert.equal(warned('#767676'), undefined, '4.54 passes');
  assert.deepEqual(contrastWarnings({ theme: GOOD }), []);
});

test('APPEARANCE-7: a warning names its tokens in a sentence, and dark ones name a themeDark. token', () => {
  const [light, ...more] = contrastWarnings({ theme: { ...GOOD, accent: '#e8590c' } });
  assert.deepEqual(more, []);
  assert.equal(light?.check, 'text_on_accent');
  assert.equal(light.fix?.token, 'accent', 'a little darker accent is a smaller change than another text');
  assert.match(light.what, /^Text on the accent: onAccent \(#ffffff\) on accent \(#e8590c\) has a contrast of 3\.58:1; at least 4\.5:1/);
  const dark = contrastWarnings({ theme: GOOD, themeDark: { danger: '#330000' } });
  assert.deepEqual(
    dark.map(({ check, fix }) => [check, fix?.token]),
    [['danger_on_surface', 'themeDark.danger']],
  );
  assert.match(dark[0]?.what ?? '', /in the dark theme: themeDark\.danger \(#330000\) on themeDark\.surface \(#[0-9a-f]{6}, derived\)/);
});

test('APPEARANCE-7: what fails by less than a hundredth is not shown as passing', () => {
  fc.assert(
    fc.property(randomThemes, (draft) => {
      for (const { ratio, minimum } of contrastWarnings(draft)) {
        assert.ok(ratio < minimum);
        assert.equal(ratio, Number(ratio.toFixed(2)));
      }
    }),
    { numRuns: 40 },
  );
  const [close] = contrastWarnings({ theme: { ...GOOD, onSurface: '#986980' } });
  assert.equal(independentRatio('#986980', '#ffffff').toFixed(2), '4.50');
  assert.deepEqual([close?.check, close?.ratio], ['text_on_surface', 4.49]);
});

test('APPEARANCE-7: exactly the pairs below their WCAG minimum are warned of, with the ratio of an independent implementation', () => {
  fc.assert(
    fc.property(randomThemes, (draft) => {
      const warnings = contrastWarnings(draft);
      for (const dark of [false, true]) {
        const served = dark ? deriveDark(draft.theme, draft.themeDark) : completeTheme(draft.theme);
        for (const pair of CONTRAST_PAIRS) {
          const ratio = independentRatio(served[pair.foreground], served[pair.background]);
          const found = warnings.filter((warning) => warning.check === pair.check && isDark(warning) === dark);
          assert.ok(found.length <= 1);
          // Nearer to the minimum than the fourth digit of the coefficients both answers are right.
          if (Math.abs(ratio - pair.minimum) > 0.002) assert.equal(found.length === 1, ratio < pair.minimum, `${pair.check} ${ratio}`);
          if (found[0] !== undefined) assert.ok(Math.abs(found[0].ratio - ratio) <= 0.012, `${pair.check} ${found[0].ratio} ${ratio}`);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('APPEARANCE-8: every suggested fix passes when applied alone, also by the independent implementation', () => {
  fc.assert(
    fc.property(randomThemes, (draft) => {
      for (const warning of contrastWarnings(draft)) {
        const { fix } = warning;
        assert.ok(fix, `${warning.check} has a passing value: black or white lies on every hue`);
        assert.match(fix.suggested, /^#[0-9a-f]{6}$/);
        assert.equal(fix.token.startsWith('themeDark.'), isDark(warning));
        const { theme, themeDark } = applied(draft, fix);
        const served = isDark(warning) ? deriveDark(theme, themeDark) : completeTheme(theme);
        const pair = CONTRAST_PAIRS.find(({ check }) => check === warning.check);
        assert.ok(pair);
        const ratio = independentRatio(served[pair.foreground], served[pair.background]);
        assert.ok(ratio >= pair.minimum, `${warning.check}: ${JSON.stringify(fix)} reaches ${ratio}`);
      }
    }),
    { numRuns: 30 },
  );
});

test('APPEARANCE-8: a suggested fix keeps its hue, and the chroma that the gamut and the minimum leave', () => {
  fc.assert(
    fc.property(randomThemes, (draft) => {
      for (const { fix } of contrastWarnings(draft)) {
        assert.ok(fix);
        const before = oklch(servedValue(draft, fix) ?? '');
        const after = oklch(fix.suggested);
        // Rounding to 8 bits gives a little chroma to what has none, and turns the hue of what has little.
        assert.ok(after.c <= before.c + 0.01, `${JSON.stringify(before)} → ${JSON.stringify(after)}`);
        const apart = Math.abs(((after.h - before.h + 540) % 360) - 180);
        if (after.c > 0.05) assert.ok(apart < 5, `${JSON.stringify(before)} → ${JSON.stringify(after)}`);
        if (before.c === 0) assert.equal(after.c, 0);
      }
    }),
    { numRuns: 40 },
  );
});

test('APPEARANCE-8: no colour of the same hue that passes is nearer in chroma than the suggested one', () => {
  for (const accent of ['#ffcc00', '#ff9900', '#66ccff', '#f5a3c7', '#00ff88']) {
    const theme = { ...GOOD, accent, onAccent: '#000000' };
    const fix = contrastWarnings({ theme }).find(({ check }) => check === 'accent_on_surface')?.fix;
    assert.equal(fix?.token, 'accent');
    const wanted = new Color(accent).to('oklch');
    const [, wantedChroma = 0, hue = 0] = wanted.coords.map((value) => value ?? 0);
    let nearest = Number.POSITIVE_INFINITY;
    for (let l = 0; l <= 1; l += 0.005) {
      for (let c = 0; c <= wantedChroma; c += 0.005) {
        const colour = new Color('oklch', [l, c, hue]);
        const passes = colour.contrastWCAG21(new Color('#ffffff')) >= 3 && colour.contrastWCAG21(new Color('#000000')) >= 4.5;
        if (passes && colour.inGamut('srgb')) nearest = Math.min(nearest, wantedChroma - c);
      }
    }
    const lost = wantedChroma - oklch(fix.suggested).c;
    assert.ok(lost <= nearest + 0.01, `${accent} → ${fix.suggested} loses ${lost}, ${nearest} would do`);
  }
});

test('APPEARANCE-8: applying fixes one by one comes to an end without warnings', () => {
  fc.assert(
    fc.property(randomThemes, (start) => {
      let draft: Themes = start;
      for (let round = 0; round < ROUNDS_MAX; round++) {
        const fix = contrastWarnings(draft).find((warning) => warning.fix !== undefined)?.fix;
        if (fix === undefined) break;
        draft = applied(draft, fix);
      }
      assert.deepEqual(contrastWarnings(draft), []);
    }),
    { numRuns: 20 },
  );
});
