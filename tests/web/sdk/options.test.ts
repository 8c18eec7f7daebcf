/** What `init` says of options that are wrong, before anything is drawn or sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindingOf } from '../../../web/client/app/person.ts';
import { SetUp } from '../../../web/react/set-up.ts';
import { laterWords } from '../../../web/sdk/later-words.ts';
import type { WidgetScript } from '../../../web/sdk/load.ts';
import { checkCall, checkOptions } from '../../../web/sdk/options.ts';
import { WIDGET_WORDS } from '../../../web/sdk/words.ts';

class FakeElement {}
Object.assign(globalThis, { HTMLElement: FakeElement });

const RIGHT = {
  key: 'rd_pk_test_1',
  address: 'https://assistant.example/',
  user: { id: 'u_1', hmac: 'a'.repeat(64) },
  userToken: () => 'token',
  context: () => ({}),
  theme: { accent: '#0a6', radius: 12, fontFamily: 'Inter, "Open Sans"', spacing: 'compact', launcherPosition: 'start' },
  themeDark: { surface: '#101010', fontScale: 1.2 },
  colorScheme: 'dark',
  themeMode: 'auto',
  locale: 'de-AT',
  dir: 'rtl',
  words: { ...WIDGET_WORDS, ...laterWords({}), send: '' },
  container: new FakeElement(),
  launcher: false,
  open: true,
  requestTimeoutMs: 1_000,
  idleTimeoutMs: 90_000,
  log: () => {},
};

test('WIDGET-2: options that are right are taken, and undefined is as left out', () => {
  checkOptions(RIGHT);
  checkOptions({ ...Object.fromEntries(Object.keys(RIGHT).map((name) => [name, undefined])), key: 'rd_pk_test_1', user: null });
  checkOptions({ locale: undefined, theme: { accent: '#ffffff' } }, true);
});

const WRONG: readonly (readonly [options: Record<string, unknown>, message: string])[] = [
  [{ key: 7 }, 'key must be the publishable key of the app: copy it from the console: 7 (a number) came.'],
  [{ address: '/api' }, 'address must be the origin of the service, without a path: https://assistant.example: "/api" came.'],
  [{ user: { id: 42 } }, 'user.id must be a string: 42 (a number) came.'],
  [{ user: { id: '' } }, 'user.id must not be empty: "" came.'],
  [{ user: { id: 'u_1', hmac: 1 } }, 'user.hmac must be a string: 1 (a number) came.'],
  [{ user: 'u_1' }, 'user must be an object with an id: "u_1" came.'],
  [{ userToken: null }, 'userToken must be a text or a function: null came.'],
  [{ context: {} }, 'context must be a function: an object came.'],
  [{ theme: '#fff' }, 'theme must be an object: "#fff" came.'],
  [{ theme: { accent: 'red' } }, 'theme.accent must be a colour as #rrggbb: "red" came.'],
  [{ theme: { radius: '12px' } }, 'theme.radius must be a number from 0 to 32: "12px" came.'],
  [{ themeDark: { acent: '#000000' } }, 'there is no themeDark.acent. Is themeDark.accent meant?'],
  [{ colorScheme: 'drak' }, 'colorScheme must be auto or light or dark: "drak" came.'],
  [{ themeMode: 'drak' }, 'themeMode must be auto or light or dark: "drak" came.'],
  [{ locale: 'de_DE' }, 'locale must be a language tag, as de-AT: "de_DE" came.'],
  [{ words: { sendd: 'Senden' } }, 'there is no words.sendd. Is words.send meant?'],
  [{ words: { send: 1 } }, 'words.send must be a text: 1 (a number) came.'],
  [{ container: '#chat' }, 'container must be an element of the page: "#chat" came.'],
  [{ launcher: 'no' }, 'launcher must be true or false: "no" came.'],
  [{ idleTimeoutMs: 0 }, 'idleTimeoutMs must be a number of milliseconds from 1 to 2147483647: 0 (a number) came.'],
  [{ log: true }, 'log must be a function: true came.'],
  [{ colourScheme: 'dark' }, 'there is no colourScheme. Is colorScheme meant?'],
  [{ usertoken: 'x' }, 'there is no usertoken. Is userToken meant?'],
];

test('WIDGET-2: of an option that is wrong the TypeError names it, what came and what is wanted; an unknown one is named with the nearest', () => {
  for (const [options, message] of WRONG) {
    const given = { key: 'rd_pk_test_1', ...options };
    assert.throws(() => checkOptions(given), { name: 'TypeError', message: `Assistant: ${message}` }, JSON.stringify(options));
  }
  for (const given of [undefined, 'rd_pk_test_1', {}, { key: '' }]) {
    assert.throws(() => checkOptions(given), {
      name: 'TypeError',
      message: /^Assistant: init (?:takes an object with the|needs the publishable) key/,
    });
  }
});

test('CLIENT-31: what is wrong of a person is told by the names that the app knows', () => {
  const binding = bindingOf({ id: 'u_1', hmac: null, traits: { plan: 'pro' } }, 'identify');
  assert.equal(JSON.stringify(binding), '{"external_user_id":"u_1","traits":{"plan":"pro"}}');
  for (const [person, message] of [
    [{ id: 1042 }, 'identify.id must be a string: 1042 (a number) came.'],
    [{ hmac: 'a' }, 'identify.id must be a string: undefined came.'],
    [{ id: 'x'.repeat(129) }, `identify.id must be at most 128 characters: "${'x'.repeat(40)}…" came.`],
    [{ id: 'u_1', hmac: 'a'.repeat(129) }, `identify.hmac must be at most 128 characters: "${'a'.repeat(40)}…" came.`],
    [{ id: 'u_1', traits: ['pro'] }, 'identify.traits must be an object: a list came.'],
  ] as const) {
    assert.throws(() => bindingOf(person, 'identify'), { name: 'TypeError', message });
  }
});

test('WIDGET-2: what is registered without what runs it is a TypeError that says what came and what is wanted', () => {
  const act = () => {};
  checkCall('registerAction', [{ name: 'look' }, act]);
  checkCall('registerScreen', [{ name: 'orders' }, act]);
  checkCall('registerComponent', ['key_points', 'my-points']);
  checkCall('registerComponent', ['key_points', act]);
  checkCall('onEvent', [act]);
  for (const [name, given, message] of [
    ['registerAction', ['look', act], 'argument 1 of registerAction must be an object with a name: "look" came.'],
    ['registerAction', [{ name: 'look' }], 'argument 2 of registerAction must be a function: undefined came.'],
    ['registerScreen', [{ title: 'Orders' }, act], 'argument 1 of registerScreen must be an object with a name: an object came.'],
    ['registerScreen', [{ name: 'orders' }, '/orders'], 'argument 2 of registerScreen must be a function: "/orders" came.'],
    ['registerComponent', [act], 'argument 1 of registerComponent must be a text: a function came.'],
    [
      'registerComponent',
      ['key_points', {}],
      'argument 2 of registerComponent must be a function, or the name of an element: an object came.',
    ],
    ['onEvent', ['opened', act], 'argument 1 of onEvent must be a function: "opened" came.'],
  ] as const) {
    assert.throws(() => checkCall(name, given), { name: 'TypeError', message });
  }
});

test('WIDGET-2, WIDGET-12: in React, too, also where a later render brings no function', () => {
  const registerAction = (...given: unknown[]) => {
    checkCall('registerAction', given);
    return () => {};
  };
  const script = { registerAction } as unknown as WidgetScript;
  const setUp = new SetUp(script);
  const registering = (handler: unknown) => (widget: WidgetScript) =>
    void widget.registerAction({ name: 'look', description: 'Looks.' }, handler as () => void);
  setUp.call(registering(() => {}));
  assert.throws(() => setUp.call(registering(undefined)), { message: 'argument 2 of registerAction must be a function: undefined came.' });
  assert.throws(() => setUp.call((widget) => void widget.registerAction(undefined as never, () => {})), {
    message: /^argument 1 of registerAction/,
  });
});
