/** Components that lead somewhere: actions, screens. */
import * as v from 'valibot';
import { type ParamRule, valueProblem } from '../action-params.ts';
import { ID_MAX_CHARS, MANIFEST_ROUTE_PARAMS_MAX } from '../limits.ts';
import { text } from '../schema/text.ts';
import { defineComponent, type Report } from './component.ts';
import { action, checkActions, checkRoute, saidAction, saidList } from './shapes.ts';
import { usedAs } from './text-uses.ts';
import { list, said, words } from './values.ts';

/** A value that a screen is opened with is an id or a short word; 200 characters keep the largest list of screens small. */
const PARAM_VALUE_MAX_CHARS = 200;

export const actions = defineComponent({
  name: 'actions',
  description: 'Buttons to open, copy, call or write. When the next step lies outside the conversation.',
  entries: { buttons: list(action, 1, 5), layout: v.optional(v.picklist(['row', 'stack'])) },
  inContext: ({ buttons }, context, report) => checkActions(buttons, 'buttons', context, report),
  fallback: ({ buttons }) => saidList(undefined, buttons.map(saidAction)),
});

const params = v.pipe(
  v.record(
    text(ID_MAX_CHARS, 1),
    v.union(
      [text(PARAM_VALUE_MAX_CHARS), v.pipe(v.number(), v.finite()), v.boolean()],
      `must be a string of at most ${PARAM_VALUE_MAX_CHARS} characters, a number, true or false`,
    ),
  ),
  // A record takes lists, too.
  v.check((params) => !Array.isArray(params), 'must be an object'),
  v.maxEntries(MANIFEST_ROUTE_PARAMS_MAX, `must name at most ${MANIFEST_ROUTE_PARAMS_MAX} parameters`),
  v.description('By the names the screen declares.'),
);

type Declared = Readonly<Record<string, ParamRule & { readonly required: boolean }>>;

/** Rule of a turn: a screen is opened with parameters that it declares, and with all that it needs (BLOCK-10). */
function checkParams(
  given: Readonly<Record<string, unknown>>,
  declared: Declared,
  path: readonly (string | number)[],
  report: Report,
): void {
  for (const [name, value] of Object.entries(given)) {
    const param = Object.hasOwn(declared, name) ? declared[name] : undefined;
    const problem = param === undefined ? 'is not a parameter of this screen' : valueProblem(param, value);
    if (problem !== null) report([...path, name], problem);
  }
  for (const [name, { required, type }] of Object.entries(declared)) {
    // A list is no value that a screen of the catalog is opened with: what nobody can give is not asked for.
    if (required && type !== 'array' && !Object.hasOwn(given, name)) report([...path, name], 'is required');
  }
}

export const screens = defineComponent({
  name: 'screens',
  description: 'Screens of the app to go to. When the person asks where to do something in it.',
  entries: {
    items: list(
      v.strictObject({
        route: usedAs(said(words(ID_MAX_CHARS), 'Name of the screen.'), 'address'),
        title: words(60),
        description: v.optional(text(120)),
        params: v.optional(params),
      }),
      1,
      4,
    ),
  },
  inContext({ items }, { routes }, report) {
    for (const [index, { route, params = {} }] of items.entries()) {
      checkRoute(route, ['items', index, 'route'], routes, report);
      const declared = routes?.get(route)?.params;
      if (declared !== undefined) checkParams(params, declared, ['items', index, 'params'], report);
    }
  },
  fallback: ({ items }) =>
    saidList(
      'In the app',
      items.map(({ title, description }) => `\n• ${title}${description ? `: ${description}` : ''}`),
      '',
    ),
});
