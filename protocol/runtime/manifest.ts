/**
 * The action manifest that an app's build registers (MANIFEST-1 to MANIFEST-4): the schema of the
 * posted document and the completed form that the rest of the service works with. Field names stay as they are posted.
 */
import * as v from 'valibot';
import {
  confirmMarkers,
  ITEM_TYPES,
  PARAM_TYPES,
  type ParamItemType,
  type ParamType,
  type ParamValue,
  paramName,
  valueProblem,
  valueTypeOf,
} from '../action-params.ts';
import { actionName } from '../catalog/catalog.ts';
import { LOCALE_MAX_CHARS } from '../language-tag.ts';
import {
  ACTION_DESCRIPTION_MAX_CHARS,
  ACTION_ENUM_MAX,
  ACTION_NAME_MAX_CHARS,
  ACTION_PARAMS_MAX,
  ACTION_TIMEOUT_DEFAULT_MS,
  ACTION_TIMEOUT_MAX_MS,
  ACTION_TIMEOUT_MIN_MS,
  CONFIRM_LABEL_MAX_CHARS,
  CONFIRM_TEMPLATE_LOCALES_MAX,
  CONFIRM_TEMPLATE_MAX_CHARS,
  MANIFEST_ACTIONS_MAX,
  MANIFEST_ROUTE_PARAMS_MAX,
  MANIFEST_ROUTES_MAX,
  MANIFEST_VERSION_MAX_CHARS,
  TYPE_TO_CONFIRM_MAX_CHARS,
} from '../limits.ts';
import { boundedList, boundedMap, flag } from '../schema/bounded.ts';
import { stated, when } from '../schema/stated.ts';
import { snakeCase, text } from '../schema/text.ts';
import { knowing } from '../schema/unknown-fields.ts';
import { rule } from '../setup/shapes.ts';
import { keepingObject, openObject, present } from './shapes.ts';
import { RISKS, type Risk } from './stream-events.ts';

/** As a declared screen's. */
const ROUTE_TITLE_MAX_CHARS = 60;
const ROUTE_DESCRIPTION_MAX_CHARS = 300;
const SDK_MAX_CHARS = 64;

const paramFields = {
  type: v.picklist(PARAM_TYPES),
  description: v.optional(text(ACTION_DESCRIPTION_MAX_CHARS)),
  required: v.optional(flag),
  enum: v.optional(
    v.pipe(
      boundedList(
        v.union([text(ACTION_DESCRIPTION_MAX_CHARS), v.number(), v.boolean()], 'must be a string, a number or a boolean'),
        ACTION_ENUM_MAX,
        `must list at most ${ACTION_ENUM_MAX} values`,
      ),
      v.minLength(1, 'must list at least one value'),
    ),
  ),
  items: v.optional(v.picklist(ITEM_TYPES)),
};

type PostedParam = v.InferOutput<v.ObjectSchema<typeof paramFields, undefined>> & { editable?: boolean | undefined };

/** Where the values of a parameter are of this type, those to choose from are too. A list holds strings unless it says otherwise. */
function enumRules(value: ParamItemType): object[] {
  const list = { type: { const: 'array' }, items: value === 'string' ? { enum: ['string', null] } : { const: value } };
  const consequence = { properties: { enum: { items: { type: value } } } };
  return [
    when({ required: ['enum', 'type'], properties: { type: { const: value } } }, consequence),
    when({ required: ['enum', 'type', ...(value === 'string' ? [] : ['items'])], properties: list }, consequence),
  ];
}

/** `keepingObject` everywhere: what a newer SDK adds is kept, so the hash is that of the document as it was posted. */
const actionParam = v.pipe(
  // What the smoke test asks with.
  knowing(keepingObject({ ...paramFields, editable: v.optional(flag) }), ['example']),
  rule<PostedParam>(
    'items',
    (param) => param.items == null || param.type === 'array',
    'goes with type array only',
    when(present('items'), { properties: { type: { const: 'array' } } }),
  ),
  rule<PostedParam>(
    'enum',
    (param) => {
      const valueType = valueTypeOf(param);
      return param.enum == null || param.enum.every((value) => typeof value === valueType);
    },
    'must hold values of the type of the parameter',
    { allOf: ITEM_TYPES.flatMap(enumRules) },
  ),
);

const template = text(CONFIRM_TEMPLATE_MAX_CHARS, 1);
const locale = text(LOCALE_MAX_CHARS, 1);
const label = text(CONFIRM_LABEL_MAX_CHARS, 1);

const confirmTemplate = v.union(
  [template, boundedMap(locale, template, CONFIRM_TEMPLATE_LOCALES_MAX, `must have at most ${CONFIRM_TEMPLATE_LOCALES_MAX} locales`)],
  `must be a text of 1 to ${CONFIRM_TEMPLATE_MAX_CHARS} characters, or a map of at most ${CONFIRM_TEMPLATE_LOCALES_MAX} locales to such texts`,
);

function templatesOf(value: string | Readonly<Record<string, string>> | null | undefined): readonly string[] {
  if (value == null) return [];
  return typeof value === 'string' ? [value] : Object.values(value);
}

/** The first `{name}` of a template that is no parameter: it would be shown raw on the card. */
function strayMarker(templates: readonly string[], params: Readonly<Record<string, unknown>>): string | undefined {
  return templates.flatMap(confirmMarkers).find((name) => !Object.hasOwn(params, name));
}

const actionFields = keepingObject({
  name: actionName,
  description: text(ACTION_DESCRIPTION_MAX_CHARS, 1),
  risk: v.optional(v.picklist(RISKS)),
  params: v.optional(boundedMap(paramName, actionParam, ACTION_PARAMS_MAX, `must have at most ${ACTION_PARAMS_MAX} parameters`)),
  confirm_template: v.optional(confirmTemplate),
  confirm_labels: v.optional(
    boundedMap(
      locale,
      keepingObject({ confirm: label, cancel: label }),
      CONFIRM_TEMPLATE_LOCALES_MAX,
      `must have at most ${CONFIRM_TEMPLATE_LOCALES_MAX} locales`,
    ),
  ),
  type_to_confirm: v.optional(text(TYPE_TO_CONFIRM_MAX_CHARS, 1)),
  timeoutMs: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(ACTION_TIMEOUT_MIN_MS, `must be at least ${ACTION_TIMEOUT_MIN_MS}`),
      v.maxValue(ACTION_TIMEOUT_MAX_MS, `must be at most ${ACTION_TIMEOUT_MAX_MS}`),
    ),
  ),
});
type ActionFields = v.InferOutput<typeof actionFields>;

const action = v.pipe(
  actionFields,
  rule<ActionFields>(
    'confirm_template',
    ({ risk, confirm_template }) => (risk ?? 'read') === 'read' || templatesOf(confirm_template).length > 0,
    'is required for a write or destructive action',
    when(
      { required: ['risk'], properties: { risk: { enum: RISKS.filter((risk) => risk !== 'read') } } },
      { required: ['confirm_template'], properties: { confirm_template: { minProperties: 1, not: { type: 'null' } } } },
    ),
  ),
  rule<ActionFields>(
    'confirm_template',
    ({ params, confirm_template }) => strayMarker(templatesOf(confirm_template), params ?? {}) === undefined,
    'must mark with {name} only what is a parameter of the action',
    {},
  ),
);

const route = keepingObject({
  name: snakeCase(ACTION_NAME_MAX_CHARS),
  title: text(ROUTE_TITLE_MAX_CHARS, 1),
  description: v.optional(text(ROUTE_DESCRIPTION_MAX_CHARS)),
  params: v.optional(
    boundedMap(
      paramName,
      knowing(keepingObject(paramFields), ['example']),
      MANIFEST_ROUTE_PARAMS_MAX,
      `must have at most ${MANIFEST_ROUTE_PARAMS_MAX} parameters`,
    ),
  ),
});

/** Refuses a second item of the same name, at the place where it stands. */
function distinctNames<Item extends { name: string }>(list: string) {
  const check = v.rawCheck<Item[]>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const items = dataset.value;
    const first = new Map<string, number>();
    items.forEach((item, index) => {
      const earlier = first.get(item.name);
      if (earlier === undefined) {
        first.set(item.name, index);
        return;
      }
      addIssue({
        message: `must be unique: ${list}[${earlier}] is named ${item.name} too`,
        input: item.name,
        path: [
          { type: 'array', origin: 'value', input: items, key: index, value: item },
          { type: 'object', origin: 'value', input: item, key: 'name', value: item.name },
        ],
      });
    });
  });
  return stated(check, { description: 'Names are unique.' });
}

const manifest = keepingObject({
  version: text(MANIFEST_VERSION_MAX_CHARS, 1),
  actions: v.pipe(boundedList(action, MANIFEST_ACTIONS_MAX, `must list at most ${MANIFEST_ACTIONS_MAX} actions`), distinctNames('actions')),
  routes: v.optional(
    v.pipe(boundedList(route, MANIFEST_ROUTES_MAX, `must list at most ${MANIFEST_ROUTES_MAX} routes`), distinctNames('routes')),
  ),
});
/** The document as it was posted, defaults not filled in: this is what is hashed and stored. */
export type PostedManifest = v.InferOutput<typeof manifest>;

export const manifestRequest = openObject({ manifest, sdk: text(SDK_MAX_CHARS, 1) });

export interface ActionParam {
  readonly type: ParamType;
  readonly description?: string;
  readonly required: boolean;
  readonly enum?: readonly ParamValue[];
  /** For type `array` only. */
  readonly items?: ParamItemType;
  /** A value that is good to try it with, as it was declared. */
  readonly example?: ParamValue | readonly ParamValue[];
  readonly editable: boolean;
}

export interface ManifestAction {
  readonly name: string;
  readonly description: string;
  readonly risk: Risk;
  readonly params: Readonly<Record<string, ActionParam>>;
  /** One text, or one per locale. Present on write and destructive actions. */
  readonly confirm_template?: string | Readonly<Record<string, string>>;
  readonly confirm_labels?: Readonly<Record<string, { readonly confirm: string; readonly cancel: string }>>;
  readonly type_to_confirm?: string;
  readonly timeoutMs: number;
}

export interface ManifestRoute {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly params: Readonly<Record<string, ActionParam>>;
}

/** A manifest with every default filled in (MANIFEST-3). */
export interface Manifest {
  readonly version: string;
  readonly actions: readonly ManifestAction[];
  readonly routes: readonly ManifestRoute[];
}

/** What a build may declare beside what is asked of it: taken where it fits the parameter. */
function exampleOf(param: PostedParam & { readonly example?: unknown }): Pick<ActionParam, 'example'> {
  const { example } = param;
  return example === undefined || valueProblem(param, example) !== null ? {} : { example: example as ParamValue | readonly ParamValue[] };
}

function completeParams(posted: Readonly<Record<string, PostedParam>> | null | undefined): Record<string, ActionParam> {
  const completed = Object.entries(posted ?? {}).map(([name, param]): [string, ActionParam] => [
    name,
    {
      type: param.type,
      required: param.required ?? false,
      editable: param.editable ?? false,
      ...(param.description == null ? {} : { description: param.description }),
      ...(param.enum == null ? {} : { enum: param.enum }),
      ...(param.type === 'array' ? { items: param.items ?? 'string' } : {}),
      ...exampleOf(param),
    },
  ]);
  return Object.fromEntries(completed);
}

/** Fills in the defaults of a stored document, null being none, and leaves out what the service does not know. */
export function completeManifest(posted: PostedManifest): Manifest {
  return {
    version: posted.version,
    actions: posted.actions.map((action) => ({
      name: action.name,
      description: action.description,
      risk: action.risk ?? 'read',
      params: completeParams(action.params),
      timeoutMs: action.timeoutMs ?? ACTION_TIMEOUT_DEFAULT_MS,
      ...(action.confirm_template == null ? {} : { confirm_template: action.confirm_template }),
      ...(action.confirm_labels == null ? {} : { confirm_labels: action.confirm_labels }),
      ...(action.type_to_confirm == null ? {} : { type_to_confirm: action.type_to_confirm }),
    })),
    routes: (posted.routes ?? []).map((route) => ({
      name: route.name,
      title: route.title,
      description: route.description ?? '',
      params: completeParams(route.params),
    })),
  };
}
