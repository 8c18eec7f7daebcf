/**
 * The schemas of what a turn's stream holds, as they are published: one per event, and the block that is in some of them.
 * They say what is always there; a client passes over fields and events that it does not know (STREAM-6).
 */
import * as v from 'valibot';
import { CATALOG } from '../catalog/catalog.ts';
import { FALLBACK_TEXT_MAX_CHARS } from '../catalog/component.ts';
import { ID_MAX_CHARS } from '../limits.ts';
import { type JsonSchema, publishSchema } from '../schema/json-schema.ts';
import { stated } from '../schema/stated.ts';
import { eventShapes } from './event-shapes.ts';
import { NOTICE_REASONS } from './notice.ts';
import type { StreamEvent } from './stream-events.ts';

/** Rules of the catalog that have no words in JSON Schema; docs/catalog.md tells them. */
const UNSAID = ['check', 'raw_check', 'finite', 'transform'];

/**
 * What is said of a body on its way out: as the catalog has it, but open for fields of later versions, and without the
 * longest texts, which are counted before the person's own addresses and numbers are put back into them.
 */
function opened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(opened);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => !(key === 'maxLength' || (key === 'additionalProperties' && value === false)),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, opened(value)]));
}

function bodySchema(name: string, body: v.GenericSchema): unknown {
  const { $schema: _dialect, title: _title, ...schema } = publishSchema(body, { title: name, unsaid: UNSAID });
  return opened(schema);
}

let blockKeywords: JsonSchema | undefined;

function blockSchema(): JsonSchema {
  blockKeywords ??= {
    type: 'object',
    required: ['index', 'id', 'block_type', 'revision', 'body'],
    properties: {
      index: { type: 'integer', minimum: 0, description: 'Place in its message.' },
      id: {
        type: 'string',
        minLength: 1,
        maxLength: ID_MAX_CHARS,
        description: 'Unique in the conversation; stays the same over revisions.',
      },
      block_type: { type: 'string' },
      revision: { type: 'integer', minimum: 1 },
      body: { type: 'object' },
      fallback_text: {
        type: 'string',
        description: `For a client that fails to draw the block; at most ${FALLBACK_TEXT_MAX_CHARS} characters before the person's own data is put back.`,
      },
      a11y_label: { type: 'string' },
    },
    oneOf: [...CATALOG.values()].map(({ name, body }) => ({
      title: name,
      // Again, because this is what tells the bodies apart: a type made of it has to be one to narrow by.
      type: 'object',
      required: ['block_type', 'body'],
      properties: { block_type: { const: name }, body: bodySchema(name, body) },
    })),
  };
  return blockKeywords;
}

/** A block wherever one stands. What is sent was validated when it was made, so this only tells of it. */
export function wireBlock() {
  return stated(
    v.custom<object>((value) => typeof value === 'object' && value !== null),
    blockSchema(),
  );
}

/** The schema of every event of a stream, by its type, as it is published: with the components of this catalog. */
function eventSchemas() {
  return eventShapes({ block: wireBlock(), componentName: v.picklist([...CATALOG.keys()]), noticeReason: v.picklist(NOTICE_REASONS) });
}

export function publishedEvents(): Readonly<Record<StreamEvent['type'], JsonSchema>> {
  const schemas = Object.entries(eventSchemas()).map(([type, schema]) => [type, publishSchema(schema, { title: `Stream event ${type}` })]);
  return Object.fromEntries(schemas) as Record<StreamEvent['type'], JsonSchema>;
}
