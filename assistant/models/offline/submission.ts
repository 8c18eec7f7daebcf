/** Owns what the offline model makes of a form that a person filled in: a call of the action that takes its fields. */
import type { ToolDefinition } from '../model.ts';
import type { ActionMatch } from './actions.ts';
import type { ParamSchema } from './arguments.ts';

/** One field, as a submission is told to a model. A longer text goes on below its line, and only the first counts. */
const FIELD = /^- ([\w.-]{1,64}): (.*)$/;
/** A form has twelve fields, of which one may be a text of many lines. */
const LINES_MAX = 200;

/** Values by field name; undefined for a message that is no form. */
function valuesOf(message: string): ReadonlyMap<string, string> | undefined {
  const lines = message.split('\n', LINES_MAX);
  if (!FIELD.test(lines[0] ?? '')) return undefined;
  return new Map(lines.flatMap((line) => (FIELD.exec(line) === null ? [] : [FIELD.exec(line)?.slice(1, 3) as [string, string]])));
}

/** What was filled in, as the parameter takes it; undefined when it does not. */
function argumentOf(text: string, { type, enum: allowed }: ParamSchema): unknown {
  if (Array.isArray(allowed)) return allowed.find((value) => String(value) === text);
  if (type === 'string') return text === '' ? undefined : text;
  if (type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : undefined;
  if (type === 'array') return text === '' ? undefined : text.split(', ');
  const number = Number(text);
  return (type === 'number' || type === 'integer') && text.trim() !== '' && Number.isFinite(number) ? number : undefined;
}

/** The action that takes most of the form's fields, and all that it needs from them; undefined when the message is no form, or none does. */
export function matchSubmission(message: string, tools: readonly ToolDefinition[]): ActionMatch | undefined {
  const values = valuesOf(message);
  if (values === undefined) return undefined;
  let best: ActionMatch | undefined;
  for (const { kind, name, parameters } of tools) {
    if (kind !== 'action') continue;
    const { properties = {}, required = [] } = parameters as {
      readonly properties?: Readonly<Record<string, ParamSchema>>;
      readonly required?: readonly string[];
    };
    const args = Object.fromEntries(
      Object.entries(properties).flatMap(([param, schema]) => {
        const value = values.has(param) ? argumentOf(values.get(param) ?? '', schema) : undefined;
        return value === undefined ? [] : [[param, value]];
      }),
    );
    if (!required.every((param) => Object.hasOwn(args, param))) continue;
    if (Object.keys(args).length > Object.keys(best?.args ?? {}).length) best = { name, args };
  }
  return best;
}
