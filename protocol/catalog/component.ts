/**
 * What a component is: one definition gives the schema of its body, the function the model is offered and the fallback
 * text. Knows no component by name; the families define them, `catalog.ts` lists them.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import type { ParamRule } from '../action-params.ts';
import { ERROR_DETAILS_MAX, ID_MAX_CHARS, SELECTION_IDS_MAX } from '../limits.ts';
import { clipWhole } from '../placeholder.ts';
import { type Detail, explain, renderPath } from '../schema/issues.ts';
import { text } from '../schema/text.ts';
import { fetches } from './text-uses.ts';

/** docs/catalog.md: `fallback_text? ≤600`. */
export const FALLBACK_TEXT_MAX_CHARS = 600;

/** A validated body: plain JSON. */
export type Body = Readonly<Record<string, unknown>>;
export type BodySchema = v.GenericSchema<unknown, Body>;
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Says what is wrong at a place inside the body, in the words that follow the field's name. */
export type Report = (path: readonly (string | number)[], message: string) => void;

/** Screens that a turn may open, by name, with the parameters that each declares. */
export type Routes = ReadonlyMap<string, { readonly params: Readonly<Record<string, ParamRule & { readonly required: boolean }>> }>;

export interface ModelContext {
  /** Id of the block being made; becomes a form's `form_id`. */
  readonly blockId: string;
  /** Routes of the turn's manifest by name (empty: no screens). Absent: routes are not checked. */
  readonly routes?: Routes;
  /** The handshake's `action_kinds`; absent or empty means every kind. */
  readonly actionKinds?: ReadonlySet<string>;
}

export interface Selectable {
  readonly disabled: boolean;
}

/** How a block with Pick is answered. `B` is the body as the model writes it. */
export interface PickRules<B> {
  /** Every id the block shows, in its order. */
  ids(body: B): ReadonlyMap<string, Selectable>;
  /** The words the block shows for an id. */
  label(body: B, id: string): string;
  /** What is wrong with this many or this combination of known, enabled ids; undefined when nothing. */
  problem(body: B, ids: readonly string[], hasOtherText: boolean): string | undefined;
  /** Whether the person may answer in own words instead. */
  acceptsOther?(body: B): boolean;
  /** The field that says what is chosen for: a newer block with the same one replaces an open one. Absent: none does. */
  readonly subject?: string;
}

export interface Component {
  readonly name: string;
  readonly version: number;
  readonly description: string;
  /** A small good body, where fields within fields are easily written wrong. */
  readonly example?: Body;
  /** False for what is never a function of the model's: `text` and `confirm_card`. */
  readonly offered: boolean;
  readonly body: BodySchema;
  /** Validates what the model writes: the body without the fields the server keeps. */
  readonly modelArgs: BodySchema;
  /** JSON Schema of `modelArgs` (draft 7, `type: object` at the top), made on first use. */
  readonly parameters: JsonSchema;
  /** Adds the server's fields to valid arguments, or says what does not fit this turn. */
  complete(args: Body, context: ModelContext): { ok: true; body: Body } | { ok: false; details: Detail[] };
  /** A true sentence for a client that cannot draw the block, at most 600 characters. `body` must be valid. */
  fallback(body: Body): string;
  /** A client fetches something of the body by itself (BLOCK-24). */
  readonly fetches: boolean;
  /** Only on components answered by choosing ids. */
  readonly pick?: PickRules<Body>;
}

export type BodyOf<E extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<E, undefined>>;

export interface ComponentSpec<E extends v.ObjectEntries> {
  readonly name: string;
  readonly description: string;
  readonly example?: Body;
  readonly offered?: boolean;
  /** The fields the model writes (for a component that is never offered: all fields). */
  readonly entries: E;
  /** Rules across fields. Must bear values that break their own bounds. */
  rules?(body: BodyOf<E>, report: Report): void;
  /** Rules that need the turn: routes and action kinds. */
  inContext?(body: BodyOf<E>, context: ModelContext, report: Report): void;
  fallback(body: BodyOf<E>): string;
  /** The block is answered by the person, so it carries Pick; `rules` say how when the answer is a choice of ids. */
  readonly pick?: 'submission' | PickRules<BodyOf<E>>;
  /** The body carries the block's own id as `form_id`. */
  readonly carriesFormId?: boolean;
  /** More fields that the server writes, all of them optional. */
  readonly kept?: v.ObjectEntries;
}

/** Kept by the server on every block that a person answers by choosing (BLOCK-13). */
export const pickEntries = {
  status: v.picklist(['open', 'answered', 'superseded']),
  selected_ids: v.optional(
    v.pipe(v.array(text(ID_MAX_CHARS, 1)), v.maxLength(SELECTION_IDS_MAX, `must hold at most ${SELECTION_IDS_MAX} items`)),
  ),
};
export interface PickState {
  readonly status: 'open' | 'answered' | 'superseded';
  readonly selected_ids?: readonly string[];
}

/** Validations that JSON Schema has no word for; descriptions tell the model about them. */
const BEYOND_JSON_SCHEMA = ['check', 'raw_check', 'finite'];

function parametersOf(schema: BodySchema): JsonSchema {
  const converted = toJsonSchema(schema, { typeMode: 'input', ignoreActions: BEYOND_JSON_SCHEMA });
  const { $schema: _dialect, ...parameters } = converted;
  return parameters as JsonSchema;
}

function withRules<E extends v.ObjectEntries>(spec: ComponentSpec<E>, kept: v.ObjectEntries): BodySchema {
  const object = v.strictObject({ ...spec.entries, ...kept });
  const { rules } = spec;
  if (rules === undefined) return object;
  return v.pipe(
    object,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      rules(dataset.value as BodyOf<E>, (path, message) => {
        const steps = path.map((key): v.UnknownPathItem => ({ type: 'unknown', origin: 'value', input: undefined, key, value: undefined }));
        const [first, ...rest] = steps;
        addIssue(first === undefined ? { message } : { message, path: [first, ...rest] });
      });
    }),
  );
}

function boundedFallback(text: string): string {
  return clipWhole(text.trim(), FALLBACK_TEXT_MAX_CHARS);
}

function pickedWords(body: Body, pick: PickRules<Body>): string {
  const { status, selected_ids: ids = [] } = body as unknown as PickState;
  if (status !== 'answered') return '';
  return ids.length === 0 ? ' (Answered.)' : ` (Answered: ${ids.map((id) => pick.label(body, id)).join(', ')}.)`;
}

/** Makes a component of its definition; every component is version 1 (BLOCK-2). */
export function defineComponent<E extends v.ObjectEntries>(spec: ComponentSpec<E>): Component {
  // The families are typed by their own entries; from here on a body is what its schema has let through.
  const pick = typeof spec.pick === 'object' ? (spec.pick as unknown as PickRules<Body>) : undefined;
  const kept = {
    ...(spec.carriesFormId ? { form_id: text(ID_MAX_CHARS, 1) } : {}),
    ...(spec.pick === undefined ? {} : pickEntries),
    ...spec.kept,
  };
  const modelArgs = withRules(spec, {});
  let parameters: JsonSchema | undefined;
  return {
    name: spec.name,
    version: 1,
    description: spec.description,
    ...(spec.example === undefined ? {} : { example: spec.example }),
    fetches: fetches(modelArgs),
    offered: spec.offered ?? true,
    modelArgs,
    body: withRules(spec, kept),
    get parameters() {
      parameters ??= parametersOf(modelArgs);
      return parameters;
    },
    complete(args, context) {
      const details: Detail[] = [];
      spec.inContext?.(args as BodyOf<E>, context, (path, message) => {
        if (details.length < ERROR_DETAILS_MAX) details.push({ path: renderPath(path), message });
      });
      if (details.length > 0) return { ok: false, details };
      return {
        ok: true,
        body: {
          ...(spec.carriesFormId ? { form_id: context.blockId } : {}),
          ...args,
          ...(spec.pick === undefined ? {} : { status: 'open' }),
        },
      };
    },
    fallback(body) {
      const said = spec.fallback(body as BodyOf<E>);
      if (pick === undefined) return boundedFallback(said);
      // The answer is the news of an answered block: it must survive the cut.
      const answer = boundedFallback(pickedWords(body, pick));
      return answer === '' ? boundedFallback(said) : boundedFallback(`${clipWhole(said, FALLBACK_TEXT_MAX_CHARS / 2)} ${answer}`);
    },
    ...(pick === undefined ? {} : { pick }),
  };
}

/** Validates `input` with one of a component's schemas; at most twelve details, or the first alone. */
export function validate(schema: BodySchema, input: unknown, tellsAll = true): { ok: true; body: Body } | { ok: false; details: Detail[] } {
  const result = v.safeParse(schema, input, { abortEarly: !tellsAll });
  return result.success ? { ok: true, body: result.output } : { ok: false, details: explain(result.issues) };
}
