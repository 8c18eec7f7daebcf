/** An HTTP action as the rest of the service reads actions: in the form of one that a build registered (manifest.ts). */
import type { ActionDefinition } from '../setup/action-rules.ts';
import type { ActionParam, ManifestAction } from './manifest.ts';

type Param = ActionDefinition['params'][number];

/** What the model is told of a parameter; the example is part of it. */
function descriptionOf({ description, example }: Param): string {
  if (example === undefined) return description;
  const said = `Example: ${typeof example === 'string' ? example : JSON.stringify(example)}`;
  return description === '' ? said : `${description} ${said}`;
}

/**
 * HTTP parameters do not say whether they are editable. Before a write, the person may correct every single value (not
 * lists): what is sent then is what they saw on the card, with their own token.
 */
function paramOf(param: Param, risk: ActionDefinition['risk']): ActionParam {
  const description = descriptionOf(param);
  return {
    type: param.type,
    required: param.required,
    editable: risk !== 'read' && param.type !== 'array',
    ...(description === '' ? {} : { description }),
    ...(param.enum === undefined ? {} : { enum: param.enum }),
    ...(param.type === 'array' ? { items: param.items ?? 'string' } : {}),
    ...(param.example === undefined ? {} : { example: param.example }),
  };
}

/** The action of a definition (ACTION-8); its address, body and credentials are no part of it. */
export function asAction(definition: ActionDefinition): ManifestAction {
  const { name, description, risk, params, confirm_template, timeout_ms } = definition;
  return {
    name,
    description,
    risk,
    params: Object.fromEntries(params.map((param) => [param.name, paramOf(param, risk)])),
    timeoutMs: timeout_ms,
    ...(confirm_template === undefined ? {} : { confirm_template }),
  };
}
