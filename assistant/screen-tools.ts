/** How a turn's screens and kinds of buttons stand in the definitions of components (MODEL-3): what is not offered is not tried. */

import type { Component, JsonSchema } from '../protocol/catalog/component.ts';
import { ACTION_KINDS, needsParams } from '../protocol/catalog/shapes.ts';
import type { ActionParam, ManifestRoute } from '../protocol/runtime/manifest.ts';
import { isObject } from '../protocol/schema/bounded.ts';
import { fence } from './fence.ts';

/** More than one manifest holds: what a model is offered stays bounded whatever manifests come to allow. */
const ROUTES_OFFERED_MAX = 100;
/** Some 1,500 tokens, with every request of the turn. The screens beyond are offered by name only. */
const ROUTES_DESCRIBED_MAX_CHARS = 6_000;

/** The component whose buttons are all that it is. */
const BUTTONS = 'actions';
const SCREENS = 'screens';

/** What the buttons and lists of a turn can lead to. */
export interface Reach {
  readonly routes: readonly ManifestRoute[];
  /** Kinds of buttons that may be offered, `open_screen` among them only with a route that needs no parameters. */
  readonly kinds: readonly string[];
  /** The component that tells what the app says of its screens: told once, because each request pays for it. Others name them only. */
  readonly teller: string;
  /** The component of buttons is offered: it tells what a button is, for all others. */
  readonly hasButtons: boolean;
}

/** The reach of a turn. `actionKinds`: those of the handshake, none meaning all. `offered`: names of the components that the model is offered. */
export function reachOf(routes: readonly ManifestRoute[], actionKinds: readonly string[], offered: readonly string[]): Reach {
  const runs = (kind: string) => actionKinds.length === 0 || actionKinds.includes(kind);
  return {
    routes: routes.slice(0, ROUTES_OFFERED_MAX),
    kinds: ACTION_KINDS.filter((kind) => runs(kind) && (kind !== 'open_screen' || routes.some((route) => !needsParams(route)))),
    teller: offered.includes(SCREENS) ? SCREENS : BUTTONS,
    hasButtons: offered.includes(BUTTONS),
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
  return lines.length === 0 ? '' : `The screens:\n${fence('screens of the app', lines.join('\n'))}`;
}

type Schema = Readonly<Record<string, unknown>>;

function isButton(schema: Schema): boolean {
  const { properties } = schema;
  if (!isObject(properties) || !isObject(properties.kind) || !isObject(properties.target)) return false;
  return Array.isArray(properties.kind.enum) && properties.kind.enum.includes('open_screen');
}

const namesOf = (routes: readonly ManifestRoute[]) => routes.map(({ name }) => name);

/** What the schema says of a target, for these kinds only; a screen is one of those that there are. */
function targetWords(description: unknown, { kinds, routes }: Reach): string {
  const sentences = String(description)
    .split(/(?<=\.) /)
    .filter((sentence) => kinds.some((kind) => sentence.startsWith(`${kind}:`)));
  return sentences
    .map((sentence) =>
      sentence.startsWith('open_screen:') ? `open_screen: ${namesOf(routes.filter((route) => !needsParams(route))).join('|')}.` : sentence,
    )
    .join(' ');
}

/** A button of kinds within reach. */
function buttonWithin(schema: Schema, reach: Reach): Schema {
  const properties = schema.properties as Readonly<Record<string, Schema>>;
  const { kind, target } = properties;
  const said = { ...target, description: targetWords(target?.description, reach) };
  return { ...schema, properties: { ...properties, kind: { ...kind, enum: reach.kinds }, target: said } };
}

/** The schema with every button in it within reach; fields that could only hold others are left out. */
function buttonsWithin(schema: Schema, reach: Reach, isTold = false): Schema {
  if (isButton(schema)) return isTold ? { type: 'object', description: `Button, as in ${BUTTONS}` } : buttonWithin(schema, reach);
  if (isObject(schema.items)) return { ...schema, items: buttonsWithin(schema.items, reach, isTold) };
  if (!isObject(schema.properties)) return schema;
  const fields = Object.entries(schema.properties)
    .filter(
      ([, field]) => reach.kinds.length > 0 || !isObject(field) || !(isButton(field) || (isObject(field.items) && isButton(field.items))),
    )
    .map(([name, field]) => [name, isObject(field) ? buttonsWithin(field, reach, isTold) : field]);
  return { ...schema, properties: Object.fromEntries(fields) };
}

/** The schema with `words` at its list `field`. */
function toldAt(schema: Schema, field: string, words: string): Schema {
  const properties = schema.properties as Readonly<Record<string, Schema>>;
  return words === '' ? schema : { ...schema, properties: { ...properties, [field]: { ...properties[field], description: words } } };
}

function screensWithin(schema: JsonSchema, { routes }: Reach): JsonSchema {
  const { items } = schema.properties as { items: { items: { properties: Readonly<Record<string, Schema>> } } };
  const properties = { ...items.items.properties, route: { type: 'string', enum: namesOf(routes) } };
  return toldAt({ ...schema, properties: { items: { ...items, items: { ...items.items, properties } } } }, 'items', routeWords(routes));
}

function actionsWithin(schema: JsonSchema, reach: Reach): JsonSchema {
  const within = buttonsWithin(schema, reach);
  if (!reach.kinds.includes('open_screen')) return within;
  return reach.teller === BUTTONS ? toldAt(within, 'buttons', routeWords(reach.routes.filter((route) => !needsParams(route)))) : within;
}

/** A component's schema as this turn can use it, undefined when it cannot: `screens` without any, buttons of no kind. */
export function withinReach({ name, parameters }: Component, reach: Reach): JsonSchema | undefined {
  if (name === SCREENS) return reach.routes.length === 0 ? undefined : screensWithin(parameters, reach);
  if (name === BUTTONS) return reach.kinds.length === 0 ? undefined : actionsWithin(parameters, reach);
  return JSON.stringify(parameters).includes('"open_screen"') ? buttonsWithin(parameters, reach, reach.hasButtons) : parameters;
}
