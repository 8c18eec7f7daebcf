/** Checks the parameters of an action call against what the action declared, and describes them to the model. */
import { valueProblem } from '../protocol/action-params.ts';
import { ACTION_RESULT_MAX_BYTES, ERROR_DETAILS_MAX } from '../protocol/limits.ts';
import type { ActionParam } from '../protocol/runtime/manifest.ts';
import type { Detail } from '../protocol/schema/issues.ts';
import { type NumberStandIn, withoutMarks } from './privacy/number-placeholder.ts';

type Params = Readonly<Record<string, ActionParam>>;

export type CheckedParams =
  | { readonly ok: true; readonly params: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly details: readonly Detail[] };

/** What a text stands for that the model was shown in place of a whole number; undefined for any other text. */
export type StandIn = (text: string) => NumberStandIn | undefined;

interface Given {
  readonly judged: unknown;
  readonly kept: unknown;
}

function givenFor(param: ActionParam | undefined, value: unknown, standIn: StandIn | undefined): Given {
  const one = (item: unknown): Given => {
    const found = typeof item === 'string' ? standIn?.(item) : undefined;
    return found === undefined ? { judged: item, kept: item } : { judged: found.value, kept: found.kept };
  };
  if (param?.type === 'string' && typeof value === 'string') return { judged: withoutMarks(value), kept: withoutMarks(value) };
  if (param?.type === 'number') return one(value);
  if (param?.type !== 'array' || param.items !== 'number' || !Array.isArray(value)) return { judged: value, kept: value };
  const items = value.map(one);
  return { judged: items.map(({ judged }) => judged), kept: items.map(({ kept }) => kept) };
}

/** The JSON text the model wrote, checked: unknown, missing and ill-typed parameters are named. */
export function checkParams(declared: Params, argumentsJson: string, standIn?: StandIn): CheckedParams {
  let given: unknown;
  try {
    given = argumentsJson === '' ? {} : JSON.parse(argumentsJson);
  } catch {
    return { ok: false, details: [{ path: '', message: 'is not valid JSON' }] };
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { ok: false, details: [{ path: '', message: 'must be an object' }] };
  }
  return checkValues(declared, given as Readonly<Record<string, unknown>>, Buffer.byteLength(argumentsJson), standIn);
}

/** The same rules for values that are at hand: those of a call that a person changed. `bytes`: their size as JSON. */
export function checkValues(
  declared: Params,
  given: Readonly<Record<string, unknown>>,
  bytes = Buffer.byteLength(JSON.stringify(given)),
  standIn?: StandIn,
): CheckedParams {
  if (bytes > ACTION_RESULT_MAX_BYTES) {
    return { ok: false, details: [{ path: '', message: `must be at most ${ACTION_RESULT_MAX_BYTES} bytes` }] };
  }
  const details: Detail[] = [];
  const params: [string, unknown][] = [];
  for (const [name, value] of Object.entries(given)) {
    const param = Object.hasOwn(declared, name) ? declared[name] : undefined;
    // A model often writes null for what it leaves out.
    if (value === null && param?.required !== true) continue;
    const { judged, kept } = givenFor(param, value, standIn);
    const problem = param === undefined ? 'is not a parameter of this action' : valueProblem(param, judged);
    if (problem === null) params.push([name, kept]);
    else details.push({ path: name, message: problem });
  }
  for (const [name, param] of Object.entries(declared)) {
    if (param.required === true && !Object.hasOwn(given, name)) details.push({ path: name, message: 'is required' });
  }
  if (details.length > 0) return { ok: false, details: details.slice(0, ERROR_DETAILS_MAX) };
  return { ok: true, params: Object.fromEntries(params) };
}

/** JSON Schema of an action's parameters, as the model is told them. `types`: without descriptions and allowed values. */
export function paramsSchema(declared: Params, detail: 'whole' | 'types' = 'whole'): Record<string, unknown> {
  const properties = Object.entries(declared).map(([name, param]) => {
    const values = param.enum === undefined || detail === 'types' ? {} : { enum: param.enum };
    const about = param.description === undefined || detail === 'types' ? {} : { description: param.description };
    const shape =
      param.type === 'array' ? { type: 'array', items: { type: param.items ?? 'string', ...values } } : { type: param.type, ...values };
    return [name, { ...shape, ...about }];
  });
  const required = Object.entries(declared)
    .filter(([, param]) => param.required === true)
    .map(([name]) => name);
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}
