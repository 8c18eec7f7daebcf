/** What the model may use on a turn: the catalog's components that the client draws, the app's actions, and knowledge. */
import { LRUCache } from 'lru-cache';
import { CATALOG, OWN_TOOLS, parseHandshakeEntry, SEARCH_KNOWLEDGE } from '../protocol/catalog/catalog.ts';
import type { Component } from '../protocol/catalog/component.ts';
import { shownSchema } from '../protocol/catalog/shown-schema.ts';
import { CATALOG_VERSION, KNOWLEDGE_QUERIES_MAX } from '../protocol/limits.ts';
import { asAction } from '../protocol/runtime/http-action.ts';
import type { Manifest, ManifestAction, ManifestRoute } from '../protocol/runtime/manifest.ts';
import type { ActionDefinition } from '../protocol/setup/action-rules.ts';
import { paramsSchema } from './action-params.ts';
import type { ToolDefinition } from './models/model.ts';
import { reachOf, withinReach } from './screen-tools.ts';

/** Some 15,000 tokens, with every request of the turn; a hundred actions with as long a description as may be fit, and their plain parameters. */
const ACTIONS_DESCRIBED_MAX_CHARS = 60_000;

const charsOf = (value: unknown) => JSON.stringify(value).length;

/** Names and types always stand in them. What room that leaves goes to descriptions of actions, then of parameters, in order. */
export function actionTools(actions: Iterable<ManifestAction>): ToolDefinition[] {
  const tools = Array.from(actions, ({ name, description, params }) => ({
    bare: { kind: 'action', name, description: '', parameters: paramsSchema(params, 'types') } satisfies ToolDefinition,
    description,
    parameters: paramsSchema(params),
  }));
  let room = tools.reduce((left, { bare }) => left - charsOf(bare), ACTIONS_DESCRIBED_MAX_CHARS);
  const fitting = <Words>(words: Words, plain: Words): Words => {
    const more = charsOf(words) - charsOf(plain);
    if (more > room) return plain;
    room -= more;
    return words;
  };
  const described = tools.map(({ bare, description, parameters }) => ({
    ...bare,
    description: fitting(description, bare.description),
    full: parameters,
  }));
  return described.map(({ full, ...tool }) => ({ ...tool, parameters: fitting(full, tool.parameters) }));
}

export interface Toolset {
  readonly definitions: readonly ToolDefinition[];
  readonly components: ReadonlySet<string>;
  readonly actions: ReadonlyMap<string, ManifestAction>;
  readonly httpActions: ReadonlyMap<string, ActionDefinition>;
  readonly routes: ReadonlyMap<string, ManifestRoute>;
  readonly languages: readonly string[];
}

export interface ToolsetInput {
  readonly components: readonly string[];
  /** `client.action_kinds` of the handshake; none means all. */
  readonly actionKinds: readonly string[];
  /** Undefined when the client named no manifest. */
  readonly manifest: { readonly hash: string; readonly document: Manifest } | undefined;
  /** HTTP actions that are switched on; `key` is another one whenever they are others. */
  readonly http: { readonly key: string; readonly actions: readonly ActionDefinition[] } | undefined;
  readonly hasKnowledge: boolean;
  /** English names of the languages that the knowledge is written in, as far as they are known. */
  readonly languages?: readonly string[];
}

/** Distinct (build, manifest) pairs in use at once are few; a toolset with its schemas takes some tens of KB. */
const TOOLSETS_KEPT = 200;
/** Characters of all kept toolsets as JSON: a manifest may have two megabytes. */
const TOOLSETS_KEPT_CHARS = 16 * 1024 * 1024;

/** Whether a word is found depends on the language: a search in another one finds nothing. */
export function languageRule(languages: readonly string[]): string {
  if (languages.length === 0) return 'It may be written in another language than the person speaks: give a query in each that it may have.';
  return `It seems to be written in ${languages.join(', ')}: search in ${languages.length === 1 ? 'that language' : 'these languages'}, and in the person's own.`;
}

function knowledgeTool(languages: readonly string[]): ToolDefinition {
  return {
    kind: 'knowledge',
    name: SEARCH_KNOWLEDGE,
    description: `Searches what the app published about itself, by words. Use it when the passages you were given do not answer the question. ${languageRule(languages)} Try other words once before you say that nothing is known.`,
    parameters: {
      type: 'object',
      properties: {
        queries: { type: 'array', items: { type: 'string' }, description: `1 to ${KNOWLEDGE_QUERIES_MAX}, a few words each.` },
      },
      required: ['queries'],
      additionalProperties: false,
    },
  };
}

/** The components that both sides know, in the order of the handshake. */
function drawnComponents(entries: readonly string[]): ReadonlyMap<string, Component> {
  const drawn = new Map<string, Component>();
  // Every client draws text, even one that does not list it.
  for (const entry of [...entries, 'text']) {
    const parsed = parseHandshakeEntry(entry);
    const component = parsed === undefined ? undefined : CATALOG.get(parsed.name);
    // A client with an earlier version cannot draw ours; one with a later version can.
    if (parsed !== undefined && component !== undefined && parsed.version >= component.version) drawn.set(component.name, component);
  }
  return drawn;
}

function build(input: ToolsetInput): Toolset {
  const { languages = [] } = input;
  // What a build registered comes last and wins: it is what the app's own code answers to.
  const http = new Map((input.http?.actions ?? []).map((definition) => [definition.name, definition]));
  for (const { name } of input.manifest?.document.actions ?? []) http.delete(name);
  const declaredActions = [...Array.from(http.values(), asAction), ...(input.manifest?.document.actions ?? [])];
  // Rows of earlier releases may have actions of such names.
  const actions = new Map(declaredActions.filter(({ name }) => !OWN_TOOLS.has(name)).map((action) => [action.name, action]));
  const declared = input.manifest?.document.routes ?? [];
  const drawn = drawnComponents(input.components);
  const offered = [...drawn.values()].filter((component) => component.offered);
  const reach = reachOf(
    declared,
    input.actionKinds,
    offered.map(({ name }) => name),
  );
  const definitions: ToolDefinition[] = [];
  for (const component of offered) {
    const parameters = withinReach(component, reach);
    if (parameters === undefined) continue;
    const { name, description, example } = component;
    const said = example === undefined ? description : `${description} Example: ${JSON.stringify(example)}`;
    definitions.push({ kind: 'component', name, description: said, parameters: shownSchema(parameters) });
  }
  definitions.push(...actionTools(actions.values()));
  if (input.hasKnowledge) definitions.push(knowledgeTool(languages));
  const routes = new Map(declared.map((route) => [route.name, route]));
  return { definitions, components: new Set(drawn.keys()), actions, httpActions: http, routes, languages };
}

export function createToolsets(): (input: ToolsetInput) => Toolset {
  const kept = new LRUCache<string, Toolset>({ max: TOOLSETS_KEPT, maxSize: TOOLSETS_KEPT_CHARS });
  return (input) => {
    const key = `${CATALOG_VERSION} ${input.manifest?.hash ?? ''} ${input.http?.key ?? ''} ${input.hasKnowledge} ${input.languages?.join() ?? ''} ${input.actionKinds.join(',')} ${input.components.join(' ')}`;
    let toolset = kept.get(key);
    if (toolset === undefined) {
      toolset = build(input);
      // Once as values, and once as the bytes that they are sent as.
      kept.set(key, toolset, { size: 2 * JSON.stringify(toolset.definitions).length + 1 });
    }
    return toolset;
  };
}
