/**
 * How the actions of a turn are described to the model, within a bound: whoever posts a manifest writes these words, and each request
 * of the turn carries and pays for all of them. What is left out the model does not need for a call; what is wrong in one our own check names.
 */
import type { ManifestAction } from '../protocol/runtime/manifest.ts';
import { paramsSchema } from './action-params.ts';
import type { ToolDefinition } from './models/model.ts';

/** Some 15,000 tokens, with every request of the turn; a hundred actions with as long a description as may be fit, and their plain parameters. */
const ACTIONS_DESCRIBED_MAX_CHARS = 60_000;

const charsOf = (value: unknown) => JSON.stringify(value).length;

/**
 * The definitions of `actions` as tools. Names and types always stand in them. What room that leaves goes to descriptions of actions first,
 * then to descriptions and allowed values of parameters, an action's as a whole, in the order of `actions`.
 */
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
