/**
 * How the screens of a turn's manifest, and the kinds of buttons that its client runs, stand in the definitions of components
 * (MODEL-3): what a model is not offered it does not try, and what it is offered it knows by name.
 */
import type { JsonSchema } from '../protocol/catalog/component.ts';
import { ACTION_KINDS } from '../protocol/catalog/shapes.ts';
import type { ActionParam, ManifestRoute } from '../protocol/runtime/manifest.ts';
import { fence } from './fence.ts';

/** More than one manifest holds: what a model is offered stays bounded whatever manifests come to allow. */
const ROUTES_OFFERED_MAX = 100;
/** Some 1,500 tokens, with every request of the turn. The screens beyond are offered by name only. */
const ROUTES_DESCRIBED_MAX_CHARS = 6_000;

/** The component whose buttons are all that it is: it says of screens what the others only name. */
const BUTTONS = 'actions';
const SCREENS = 'screens';

/** What the buttons and lists of a turn can lead to. */
export interface Reach {
  readonly routes: readonly ManifestRoute[];
  /** Kinds of buttons that may be offered, `open_screen` among them only with routes. */
  readonly kinds: readonly string[];
}

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
}

/** The reach of a turn. `actionKinds`: those of the handshake, none meaning all. */
export function reachOf(routes: readonly ManifestRoute[], actionKinds: readonly string[]): Reach {
  const runs = (kind: string) => actionKinds.length === 0 || actionKinds.includes(kind);
  return {
    routes: routes.slice(0, ROUTES_OFFERED_MAX),
    kinds: ACTION_KINDS.filter((kind) => runs(kind) && (kind !== 'open_screen' || routes.length > 0)),
  };
}

function paramWords({ type, items, required, enum: values, description }: ActionParam): object {
  return {
    type: type === 'array' ? `list of ${items ?? 'string'}` : type,
    ...(required ? { required } : {}),
    ...(values === undefined ? {} : { enum: values }),
    ...(description === undefined ? {} : { description }),
  };
}

/** One screen in a line of JSON, so that its words cannot look like another's. */
function routeLine({ name, title, description, params }: ManifestRoute): string {
  const declared = Object.entries(params).map(([param, rule]) => [param, paramWords(rule)]);
  return JSON.stringify({
    name,
    title,
    ...(description === '' ? {} : { description }),
    ...(declared.length === 0 ? {} : { params: Object.fromEntries(declared) }),
  });
}

/** What the app says of its screens, fenced: whoever posts a manifest wrote it. Those that do not fit are left to their names. */
function routeWords(routes: readonly ManifestRoute[]): string {
  const lines: string[] = [];
  let chars = 0;
  for (const line of routes.map(routeLine)) {
    chars += line.length + 1;
    if (chars > ROUTES_DESCRIBED_MAX_CHARS) break;
    lines.push(line);
  }
  return lines.length === 0 ? '' : `\n${fence('screens of the app', lines.join('\n'))}`;
}

type Schema = Readonly<Record<string, unknown>>;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isButton(schema: Schema): boolean {
  const { properties } = schema;
  if (!isSchema(properties) || !isSchema(properties.kind) || !isSchema(properties.target)) return false;
  return Array.isArray(properties.kind.enum) && properties.kind.enum.includes('open_screen');
}

/** What the schema says of a target, for these kinds only. */
function targetWords(description: unknown, kinds: readonly string[]): string {
  const sentences = String(description).split(/(?<=\.) /);
  return sentences.filter((sentence) => kinds.some((kind) => sentence.startsWith(`${kind}:`))).join(' ');
}

/** A button of kinds within reach: one that opens a screen has names to choose from, any other says what its target is. */
function buttonWithin(schema: Schema, { routes, kinds }: Reach, screenWords: string): Schema {
  const { properties, ...rest } = schema as { properties: Record<string, Schema> };
  const { description, ...rules } = rest as { description?: unknown };
  const others = kinds.filter((kind) => kind !== 'open_screen');
  const button = (allowed: readonly string[], target: Schema): Schema => ({
    ...rules,
    properties: { ...properties, kind: { ...properties.kind, enum: allowed }, target },
  });
  const shapes: Schema[] = [];
  if (others.length > 0) {
    shapes.push(button(others, { ...properties.target, description: targetWords(properties.target?.description, others) }));
  }
  if (kinds.includes('open_screen')) {
    shapes.push(button(['open_screen'], { type: 'string', enum: routes.map(({ name }) => name), description: screenWords }));
  }
  const said = description === undefined ? {} : { description };
  const [only] = shapes;
  return shapes.length === 1 && only !== undefined ? { ...only, ...said } : { anyOf: shapes, ...said };
}

/** The schema with every button in it within reach; fields that could only hold others are left out. */
function buttonsWithin(schema: Schema, reach: Reach, screenWords: string): Schema {
  if (isButton(schema)) return buttonWithin(schema, reach, screenWords);
  if (isSchema(schema.items)) return { ...schema, items: buttonsWithin(schema.items, reach, screenWords) };
  if (!isSchema(schema.properties)) return schema;
  const fields = Object.entries(schema.properties)
    .filter(
      ([, field]) => reach.kinds.length > 0 || !isSchema(field) || !(isButton(field) || (isSchema(field.items) && isButton(field.items))),
    )
    .map(([name, field]) => [name, isSchema(field) ? buttonsWithin(field, reach, screenWords) : field]);
  return { ...schema, properties: Object.fromEntries(fields) };
}

function screensWithin(schema: JsonSchema, routes: readonly ManifestRoute[]): JsonSchema {
  const withRoute = (item: Schema): Schema => ({
    ...item,
    properties: {
      ...(item.properties as Schema),
      route: { type: 'string', enum: routes.map(({ name }) => name), description: `Name of the screen.${routeWords(routes)}` },
    },
  });
  const { properties } = schema as { properties: { items: { items: Schema } } };
  return { ...schema, properties: { ...properties, items: { ...properties.items, items: withRoute(properties.items.items) } } };
}

/** A component's definition as this turn can use it, undefined when it cannot: `screens` without any, buttons of no kind. */
export function withinReach(definition: Definition, reach: Reach): Definition | undefined {
  const { name, parameters } = definition;
  if (name === SCREENS)
    return reach.routes.length === 0 ? undefined : { ...definition, parameters: screensWithin(parameters, reach.routes) };
  if (name === BUTTONS && reach.kinds.length === 0) return undefined;
  if (!JSON.stringify(parameters).includes('"open_screen"')) return definition;
  const screenWords = `The screen to open.${name === BUTTONS ? ` One that needs parameters opens from \`${SCREENS}\` only.${routeWords(reach.routes)}` : ''}`;
  return { ...definition, parameters: buttonsWithin(parameters, reach, screenWords) };
}
