/** Which model answers an app, as fields of its form: the parts of the draft's `model`, which is saved as a whole. */
import {
  EFFORTS,
  type ModelChoice,
  type ModelOffer,
  OUTPUT_TOKENS_MAX,
  OUTPUT_TOKENS_MIN,
  TEMPERATURE_MAX,
} from '../../../protocol/setup/model-choice.ts';
import type { ExperienceDraft } from '../../../protocol/setup/persona.ts';
import { type FieldEntry, linesOf } from '../parts/fields.tsx';

type ModelFields = Readonly<Record<string, string | number | null>>;

/** What says that no other model is asked. */
const NONE = 'none';

function lineOf({ name, reads }: ModelOffer): string {
  return `${name} (${reads.join(', ')})`;
}

/** `use` and `others`, as they stand in their fields: the operator may have taken them off the list. */
export function modelEntries(offers: readonly ModelOffer[], use: string, others = ''): readonly FieldEntry[] {
  const names = offers.map(({ name }) => name);
  const gone = use === '' || names.includes(use) ? [] : [[use, `${use} (not there any more)`] as const];
  const chooses: readonly FieldEntry[] = [
    {
      name: 'model.use',
      kind: 'choice',
      label: 'Model',
      hint: `What each can read: ${offers.map(lineOf).join(', ')}.`,
      options: [['', `The installation's first (${names[0] ?? 'none'})`], ...names.map((each) => [each, each] as const), ...gone],
    },
    {
      name: 'model.fallbacks',
      kind: 'lines',
      label: 'Falls back to',
      hint: `Asked while that one fails before its first word: up to two names, one a line. Empty: the others in the installation's order; "${NONE}": no other.`,
      placeholder: names[1] ?? '',
    },
  ];
  return [
    ...(offers.length > 1 || gone.length > 0 || others !== '' ? chooses : []),
    {
      name: 'model.temperature',
      kind: 'number',
      label: 'Temperature',
      hint: 'How much it varies. Empty: as the model does by itself. Left out where a model does not take it.',
      ...{ min: 0, max: TEMPERATURE_MAX, step: 0.1, placeholder: 'its own' },
    },
    {
      name: 'model.effort',
      kind: 'choice',
      label: 'Effort',
      hint: 'How long it thinks before it answers. Left out where a model does not take it.',
      options: [['', 'Its own'], ...EFFORTS.map((each) => [each, each] as const)],
    },
    {
      name: 'model.max_output_tokens',
      kind: 'number',
      label: 'Longest answer',
      hint: 'What it may write in one go, thinking included; an answer is cut off there. Empty: no bound of your own.',
      ...{ min: OUTPUT_TOKENS_MIN, max: OUTPUT_TOKENS_MAX, unit: 'tokens', placeholder: 'none' },
    },
  ];
}

export function modelFieldsOf({ use, fallbacks, temperature, effort, max_output_tokens: most }: ModelChoice = {}): ModelFields {
  return {
    'model.use': use ?? '',
    'model.fallbacks': fallbacks?.length === 0 ? NONE : (fallbacks ?? []).join('\n'),
    'model.temperature': temperature ?? null,
    'model.effort': effort ?? '',
    'model.max_output_tokens': most ?? null,
  };
}

/** What the fields come to; whether it is right is for the service to say. */
export function choiceOf(fields: ModelFields): NonNullable<ExperienceDraft['model']> {
  const others = linesOf(String(fields['model.fallbacks'] ?? ''));
  const [first = ''] = others;
  const all = {
    use: fields['model.use'] || undefined,
    fallbacks: others.length === 0 ? undefined : others.length === 1 && first.toLowerCase() === NONE ? [] : others,
    temperature: fields['model.temperature'] ?? undefined,
    effort: fields['model.effort'] || undefined,
    max_output_tokens: fields['model.max_output_tokens'] ?? undefined,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
