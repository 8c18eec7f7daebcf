/** Values of an action's parameters as they are typed into fields, and as they are sent. */
import type { DeclaredParam } from '../../../protocol/console/setup-answers.ts';

/** What a field begins with: the example of the definition. */
export function exampleText({ example }: DeclaredParam): string {
  if (example === undefined || example === null) return '';
  if (Array.isArray(example)) return example.map(String).join('\n');
  return typeof example === 'object' ? '' : String(example);
}

function typedAs(type: DeclaredParam['type'], text: string): unknown {
  // What is no number or no yes or no stays text, and the service says so.
  if (type === 'number') return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/** What is sent: an empty field is left out; of a list each line is an item. */
export function sentValues(params: readonly DeclaredParam[], texts: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const entries = params.flatMap((param): [string, unknown][] => {
    const text = texts[param.name] ?? '';
    if (text === '') return [];
    if (param.type !== 'array') return [[param.name, typedAs(param.type, text)]];
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return [[param.name, lines.map((line) => typedAs(param.items ?? 'string', line))]];
  });
  return Object.fromEntries(entries);
}
