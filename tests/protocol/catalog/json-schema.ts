/** A small JSON Schema checker (draft 7) for the keywords that our tools use; any other keyword is an error. */

type Schema = Readonly<Record<string, unknown>>;

const ANNOTATIONS = new Set(['description', 'default', 'title']);

function lengthOf(value: string): number {
  return Array.from(value).length;
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

type Check = (value: unknown, wanted: unknown, schema: Schema) => boolean;

const objectOf = (value: unknown) => (isOfType(value, 'object') ? Object.entries(value as Record<string, unknown>) : []);
const when = (test: boolean, rule: () => boolean) => !test || rule();

const CHECKS: Readonly<Record<string, Check>> = {
  type: isOfType,
  enum: (value, wanted) => (wanted as unknown[]).includes(value),
  anyOf: (value, wanted) => (wanted as Schema[]).some((one) => accepts(one, value)),
  minLength: (value, wanted) => when(typeof value === 'string', () => lengthOf(value as string) >= Number(wanted)),
  maxLength: (value, wanted) => when(typeof value === 'string', () => lengthOf(value as string) <= Number(wanted)),
  pattern: (value, wanted) => when(typeof value === 'string', () => new RegExp(wanted as string, 'u').test(value as string)),
  minimum: (value, wanted) => when(typeof value === 'number', () => (value as number) >= Number(wanted)),
  maximum: (value, wanted) => when(typeof value === 'number', () => (value as number) <= Number(wanted)),
  minItems: (value, wanted) => when(Array.isArray(value), () => (value as unknown[]).length >= Number(wanted)),
  maxItems: (value, wanted) => when(Array.isArray(value), () => (value as unknown[]).length <= Number(wanted)),
  items: (value, wanted) => when(Array.isArray(value), () => (value as unknown[]).every((item) => accepts(wanted as Schema, item))),
  maxProperties: (value, wanted) => objectOf(value).length <= Number(wanted),
  propertyNames: (value, wanted) => objectOf(value).every(([key]) => accepts(wanted as Schema, key)),
  required: (value, wanted) => (wanted as string[]).every((key) => objectOf(value).some(([name]) => name === key)),
  properties: (value, wanted) =>
    objectOf(value).every(([key, item]) => {
      const schema = (wanted as Record<string, Schema>)[key];
      return schema === undefined || accepts(schema, item);
    }),
  additionalProperties: (value, wanted, schema) => {
    const declared = Object.keys((schema.properties ?? {}) as object);
    const others = objectOf(value).filter(([key]) => !declared.includes(key));
    return wanted === false ? others.length === 0 : others.every(([, item]) => accepts(wanted as Schema, item));
  },
};

/** Whether `schema` accepts `value`. Throws on a keyword that it does not know. */
export function accepts(schema: Schema, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, wanted]) => {
    if (ANNOTATIONS.has(keyword)) return true;
    const check = CHECKS[keyword];
    if (check === undefined) throw new Error(`unexpected keyword ${keyword}`);
    return check(value, wanted, schema);
  });
}
