import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { appearanceOf } from '../../../web/sdk/appearance.ts';

const THEME = { surface: '#ffffff', onSurface: '#111111', accent: '#336699', onAccent: '#ffffff', radius: 10, launcherPosition: 'start' };

test('WIDGET-5: the published colours are those of the widget, light and dark, and what the app passes wins', () => {
  const published = { theme: THEME, themeDark: { ...THEME, surface: '#000000' }, copilot: { assistantName: 'Ada', feedback: true } };
  const { properties, copilot, launcherAt } = appearanceOf(published, { accent: '#aa0000' });
  assert.equal(properties['--panel'], 'light-dark(#ffffff, #000000)');
  assert.equal(properties['--accent'], 'light-dark(#aa0000, #aa0000)');
  assert.equal(properties['--r-3'], '10px');
  assert.deepEqual([copilot.assistantName, copilot.feedback, launcherAt], ['Ada', true, 'start']);
});

test('WIDGET-5: without a configuration it looks as it does by itself', () => {
  assert.deepEqual(appearanceOf(undefined), {
    copilot: { suggestions: [], feedback: false },
    properties: {},
    launcherAt: 'end',
    logo: undefined,
  });
});

test('WIDGET-5: whatever a configuration holds, a property is a colour, a length, a number or a font', () => {
  const value = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.constant('#12345; background: url(//x)'),
    fc.constant(null),
    fc.constant('x; } * {'),
  );
  const theme = fc.dictionary(fc.constantFrom(...Object.keys(THEME), 'fontFamily', 'fontScale', 'spacing', 'style'), value);
  fc.assert(
    fc.property(theme, theme, (light, dark) => {
      const { properties } = appearanceOf({ theme: light, themeDark: dark });
      for (const [name, text] of Object.entries(properties)) {
        assert.match(name, /^--[a-z0-9-]+$/);
        assert.match(text, /^(?:light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\)|\d+px|[\d.]+|none|[\p{L}\p{N} ,'"-]+, system-ui, sans-serif)$/iu);
      }
    }),
  );
});

test('WIDGET-5: texts of a configuration are kept short, and what is no text is left out', () => {
  const { copilot } = appearanceOf({
    copilot: { assistantName: 7, welcomeTitle: 'x'.repeat(999), suggestions: ['a', 3, '', ...Array(9).fill('b')] },
  });
  assert.deepEqual([copilot.assistantName, copilot.welcomeTitle?.length, copilot.suggestions.length], [undefined, 400, 6]);
});
