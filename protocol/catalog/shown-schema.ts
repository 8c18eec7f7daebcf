/**
 * What a model is shown of a component's JSON Schema. Every request carries the definitions of all components and pays for them, so
 * they say what a model needs to write a body (fields, which are required, allowed values, formats) in few tokens. What a body must
 * keep to beyond that its validator says, and a body that does not is asked for once more. Made of the schema, never written beside it.
 *
 * A component's own fields stay a schema; objects within them are told in a line of words such as `{id, label, done: boolean}`, which
 * takes a third of the tokens. Every server of models takes that: it is type, properties, items, enum, anyOf, required and description,
 * no more. Several servers refuse `$ref`, or `additionalProperties`, or drop what they do not know, some of them all that lies deeper
 * than a tool's own fields; but a description they keep. Servers that hold a model to a schema admit no fields that it does not name.
 */
import type { JsonSchema } from './component.ts';

/** Of texts as short as this the bound is told: they are easily written too long, and to ask again costs a whole round. */
const SHORT_TEXT_CHARS = 200;
/** The same of lists. */
const SHORT_LIST_ITEMS = 8;

function itemsBound({ minItems, maxItems }: JsonSchema): string {
  if (typeof minItems === 'number' && minItems > 1) return `${minItems} to ${maxItems} items`;
  return typeof maxItems === 'number' && maxItems <= SHORT_LIST_ITEMS ? `<=${maxItems} items` : '';
}

/** Names of texts whose bound is not told: nobody writes a long one, the instructions say it of all, or it is cut without loss. */
const UNBOUNDED = /(?:^|_)id$|^(?:timezone|language|icon|alt|title|carrier|tracking_number|filename)$/;

function textBound({ maxLength }: JsonSchema, name: string): string {
  const isShort = typeof maxLength === 'number' && maxLength <= SHORT_TEXT_CHARS && !UNBOUNDED.test(name);
  return isShort ? `<=${maxLength}` : '';
}

const saidOf = ({ description }: JsonSchema) => (typeof description === 'string' ? description : '');

/** What is told of a value beside its type. */
const notesOf = (field: JsonSchema, name: string) => joined([textBound(field, name), itemsBound(field), saidOf(field)]);

const joined = (parts: readonly string[]) => parts.filter((part) => part !== '').join('; ');

/** A value in words: `a|b` of what is allowed, `[…]` of a list, `{…}` of an object, else its type. */
function valueWords({ enum: values, anyOf: shapes, items, properties, required, type }: JsonSchema): string {
  if (Array.isArray(values)) return values.join('|');
  if (Array.isArray(shapes)) return (shapes as JsonSchema[]).map(valueWords).join('|');
  if (items !== undefined) return `[${valueWords(items as JsonSchema)}]`;
  if (properties === undefined) return String(type);
  const needed = new Set(required as readonly string[]);
  const fields = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  return `{${fields.map(([name, field]) => fieldWords(name, field, needed.has(name))).join(', ')}}`;
}

/** A field in words: `label<=60`, `state?: done|failed (as the action returned)`. Without a type it is a text. */
function fieldWords(name: string, field: JsonSchema, isRequired: boolean): string {
  const value = valueWords(field);
  const notes = joined([itemsBound(field), saidOf(field)]).replace(/\.$/, '');
  const told = value === 'string' ? textBound(field, name) : `: ${value}`;
  return `${name}${isRequired ? '' : '?'}${told}${notes === '' ? '' : ` (${notes})`}`;
}

/** An own field of a component, or an item of one that is a list. */
function shownField(field: JsonSchema, name = ''): JsonSchema {
  const { type, enum: values, items, anyOf: shapes, properties } = field;
  const description = joined([notesOf(field, name), properties === undefined ? '' : valueWords(field)]);
  return {
    ...(type === undefined ? {} : { type }),
    ...(values === undefined ? {} : { enum: values }),
    ...(items === undefined ? {} : { items: shownField(items as JsonSchema) }),
    ...(shapes === undefined ? {} : { anyOf: (shapes as JsonSchema[]).map((shape) => shownField(shape)) }),
    ...(description === '' ? {} : { description }),
  };
}

function shown({ type, properties, required }: JsonSchema): JsonSchema {
  const fields = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  return { type, properties: Object.fromEntries(fields.map(([name, field]) => [name, shownField(field, name)])), required };
}

const made = new WeakMap<JsonSchema, JsonSchema>();

/** What a model is shown of `schema`, a component's; the same object for the same schema. It lets through whatever the schema does. */
export function shownSchema(schema: JsonSchema): JsonSchema {
  let short = made.get(schema);
  if (short === undefined) {
    short = shown(schema);
    made.set(schema, short);
  }
  return short;
}
