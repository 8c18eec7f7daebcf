/** Derived tokens and the derived dark theme. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contrastRatio, oklch } from '../../../protocol/appearance/colour.ts';
import { completeTheme, deriveDark } from '../../../protocol/appearance/complete-theme.ts';
import { CONTRAST_PAIRS, contrastWarnings } from '../../../protocol/appearance/contrast.ts';
import { randomDark, randomTheme } from './random-themes.ts';

const BRAND = { surface: '#ffffff', onSurface: '#1a1033', accent: '#0044cc', onAccent: '#ffffff' };
const BASE = ['surface', 'onSurface', 'accent', 'onAccent'];
const RUNS = { numRuns: 60 };

test('APPEARANCE-5: every colour token is served as #rrggbb, and a written one as it was written', () => {
  fc.assert(
    fc.property(randomTheme, randomDark, (theme, dark) => {
      const whole = completeTheme({ ...theme, radius: 8 });
      assert.deepEqual({ ...whole, ...theme }, whole);
      assert.equal(whole.radius, 8);
      const night = deriveDark({ ...theme, radius: 8, style: 'soft' }, { ...dark, radius: 4 });
      assert.deepEqual({ ...night, ...dark }, night);
      assert.equal(night.radius, 4);
      assert.equal(night.style, 'soft');
      for (const { foreground, background } of CONTRAST_PAIRS) {
        for (const token of [foreground, background]) {
          assert.match(whole[token], /^#[0-9a-f]{6}$/);
          assert.match(night[token], /^#[0-9a-f]{6}$/);
        }
      }
    }),
    RUNS,
  );
});

test('APPEARANCE-5: derived tokens meet every minimum when the four base colours do', () => {
  fc.assert(
    fc.property(randomTheme, (random) => {
      const { surface, onSurface, accent, onAccent } = random;
      const whole = completeTheme({ surface, onSurface, accent, onAccent });
      const readable = contrastRatio(surface, onSurface) >= 4.5;
      for (const { check, foreground, background, minimum } of CONTRAST_PAIRS) {
        if (BASE.includes(foreground) && (BASE.includes(background) || !readable)) continue;
        assert.ok(contrastRatio(whole[foreground], whole[background]) >= minimum, check);
      }
    }),
    RUNS,
  );
});

test('APPEARANCE-6: a dark theme that is derived altogether has no contrast to warn of', () => {
  fc.assert(
    fc.property(randomTheme, (random) => {
      const { surface, onSurface, accent, onAccent } = random;
      const light = { surface, onSurface, accent, onAccent };
      const dark = contrastWarnings({ theme: light }).filter(({ what }) => what.includes('themeDark.'));
      assert.deepEqual(dark, []);
      assert.ok(oklch(deriveDark(light).surface).l < 0.25, 'the page is dark');
    }),
    RUNS,
  );
});

test('APPEARANCE-6: the dark theme keeps an accent that shows, and moves one that does not along its hue', () => {
  assert.equal(deriveDark({ ...BRAND, accent: '#d63384' }).accent, '#d63384');
  const moved = deriveDark(BRAND).accent;
  assert.notEqual(moved, BRAND.accent);
  assert.ok(contrastRatio(moved, deriveDark(BRAND).surface) >= 3);
  assert.ok(Math.abs(oklch(moved).h - oklch(BRAND.accent).h) < 3);
  assert.equal(deriveDark(BRAND).onAccent, BRAND.onAccent);
  assert.ok(Math.abs(oklch(deriveDark(BRAND).onSurface).h - oklch(BRAND.onSurface).h) < 5, 'the tint of the text stays');
});

test('APPEARANCE-6: what follows the page is derived from the dark page, and a light theme that is dark keeps its page', () => {
  const dark = deriveDark({ ...BRAND, surfaceRaised: '#fafafa', outline: '#808080', danger: '#b00020' });
  assert.ok(oklch(dark.surfaceRaised).l < 0.3);
  assert.equal(contrastRatio(dark.outline, dark.surface) >= 3, true);
  assert.ok(contrastRatio(dark.danger, dark.surface) >= 3);
  assert.equal(deriveDark({ ...BRAND, surface: '#101014', onSurface: '#f0f0f0' }).surface, '#101014');
});

test('APPEARANCE-6: the derivation depends on the tokens only', () => {
  fc.assert(
    fc.property(randomTheme, randomDark, (theme, dark) => {
      const first = deriveDark(theme, dark);
      deriveDark(dark.surface === undefined ? theme : { ...theme, surface: dark.surface });
      assert.deepEqual(deriveDark({ ...theme }, { ...dark }), first);
    }),
    RUNS,
  );
});
