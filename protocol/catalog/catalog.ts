/**
 * The component catalog (BLOCK-2): the list of components, and what is asked of it by name.
 * Adding a component is a definition in its family and one line here.
 */

import * as v from 'valibot';
import { ACTION_NAME_MAX_CHARS, CATALOG_VERSION } from '../limits.ts';
import { type Detail, measured } from '../schema/issues.ts';
import { stated } from '../schema/stated.ts';
import { snakeCase } from '../schema/text.ts';
import { choice, quickReplies, rating } from './choices.ts';
import { orderTracker, pass, variantPicker } from './commerce.ts';
import { type Body, type Component, type JsonSchema, type ModelContext, type PickState, validate } from './component.ts';
import { confirmCard } from './confirm.ts';
import { form } from './forms.ts';
import { checklist, comparison, itemList, keyValue, tags, timeline } from './lists.ts';
import { LIST_MAX_ITEMS, mended, VALUES_MAX, valuesIn } from './mended.ts';
import { actions, screens } from './navigation.ts';
import { contact, map, placeCard } from './places.ts';
import { code, disclosure, infoCard, keyPoints, section, textBlock } from './prose.ts';
import { readable } from './readable.ts';
import { datetimeSlots } from './schedule.ts';
import { shownSchema } from './shown-schema.ts';

/** In the order of docs/catalog.md, which is also the order the model sees. */
const COMPONENTS: readonly Component[] = [
  textBlock,
  section,
  keyPoints,
  quickReplies,
  choice,
  tags,
  actions,
  screens,
  confirmCard,
  orderTracker,
  timeline,
  checklist,
  comparison,
  keyValue,
  infoCard,
  itemList,
  placeCard,
  map,
  pass,
  code,
  contact,
  rating,
  disclosure,
  variantPicker,
  datetimeSlots,
  form,
];

export const CATALOG: ReadonlyMap<string, Component> = new Map(COMPONENTS.map((component) => [component.name, component]));

export const SEARCH_KNOWLEDGE = 'search_knowledge';

/** What the model calls that is the service's own: an action of such a name would stand in its place. */
export const OWN_TOOLS: ReadonlySet<string> = new Set([SEARCH_KNOWLEDGE, 'open_screen', ...CATALOG.keys()]);

export const actionName = v.pipe(
  snakeCase(ACTION_NAME_MAX_CHARS),
  stated(
    v.check(
      (name: string) => !OWN_TOOLS.has(name),
      ({ input }: v.CheckIssue<string>) => `must not be ${input}: the service has a tool of that name`,
    ),
    { not: { enum: [...OWN_TOOLS] } },
  ),
);

export type Validated = { ok: true; body: Body } | { ok: false; details: Detail[] };

function unknownComponent(name: string): Validated {
  return { ok: false, details: [{ path: '', message: `is for "${name}", which catalog ${CATALOG_VERSION} does not have` }] };
}

const HANDSHAKE_ENTRY = /^([a-z][a-z0-9_]{0,63})(?:@([1-9][0-9]{0,3}))?$/;

/** A handshake's `components` entry, `name` (version 1) or `name@n`; undefined when it is neither. The name need not be known. */
export function parseHandshakeEntry(entry: string): { name: string; version: number } | undefined {
  const [, name, version] = HANDSHAKE_ENTRY.exec(entry) ?? [];
  return name === undefined ? undefined : { name, version: version === undefined ? 1 : Number(version) };
}

export interface FunctionTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema };
}

/** The function the model is offered, in the shape of OpenAI's `tools`. */
export function toolDefinition(component: Component): FunctionTool {
  const { name, description, parameters } = component;
  return { type: 'function', function: { name, description, parameters: shownSchema(parameters) } };
}

/** Checks a whole body, the server's fields included, and returns it as it is to be stored (defaults filled in, Markdown defused). */
export function validateBody(name: string, body: unknown): Validated {
  const component = CATALOG.get(name);
  return component === undefined ? unknownComponent(name) : validate(component.body, body);
}

/** A larger body is told its first fault alone: a fault costs some thirty microseconds, and a round may have eight bodies. */
const ALL_FAULTS_MAX_VALUES = 400;
const TOO_MUCH = `must hold at most ${VALUES_MAX} values in all, and no list more than ${LIST_MAX_ITEMS} items`;

/**
 * A body from what the model wrote: its arguments mended (BLOCK-27), checked against the schema it was shown, then against the turn, then
 * completed with the fields the server keeps (Pick, `form_id`). Never throws; refuses components that are not offered.
 */
export function modelBody(name: string, args: unknown, context: ModelContext): Validated {
  const component = CATALOG.get(name);
  if (!component?.offered) return unknownComponent(name);
  const meant = valuesIn(args) > VALUES_MAX ? args : mended(name, component.modelArgs, args);
  // Again: a text may have held the most of it as JSON.
  const values = valuesIn(meant);
  if (values > VALUES_MAX) return { ok: false, details: [{ path: '', message: TOO_MUCH }] };
  const written = validate(component.modelArgs, meant, values <= ALL_FAULTS_MAX_VALUES);
  const made = written.ok ? component.complete(written.body, context) : written;
  return made.ok ? made : { ok: false, details: measured(made.details, meant) };
}

/** A stored body as the call that made it: the fields that the model wrote. Undefined for what the model does not call. */
export function writtenArgs(name: string, body: Body): Body | undefined {
  const component = CATALOG.get(name);
  if (!component?.offered) return undefined;
  const written = component.parameters.properties as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(body).filter(([field]) => Object.hasOwn(written, field)));
}

/** What a person made of a block, in a sentence; '' while it is open. */
export function answerWords({ block_type: name, body }: { readonly block_type: string; readonly body: Body }): string {
  const { status, selected_ids: ids = [] } = body as unknown as Partial<PickState>;
  if (status === 'superseded') return 'It was replaced by a newer one.';
  if (status !== 'answered') return '';
  const pick = CATALOG.get(name)?.pick;
  return pick === undefined || ids.length === 0
    ? 'The person answered it.'
    : `The person chose ${ids.map((id) => pick.label(body, id)).join(', ')}.`;
}

/** What people can read of a body that could not be made a valid one, as Markdown; '' when that is nothing. Never throws. */
export function readableWords(name: string, written: unknown): string {
  return readable(CATALOG.get(name)?.modelArgs, written);
}

/** What a client that cannot draw the block says instead: true, at most 600 characters. `body` must have passed `validateBody`. */
export function fallbackText(name: string, body: Body): string {
  return CATALOG.get(name)?.fallback(body) ?? '';
}
