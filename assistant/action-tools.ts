/**
 * How a turn's actions are described to the model, within a bound: a stranger writes these words, and each request carries and pays for
 * them.
 */
import type { ManifestAction } from '../protocol/runtime/manifest.ts';
import { paramsSchema } from './action-params.ts';
import type { ToolDefinition } from './models/model.ts';

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
