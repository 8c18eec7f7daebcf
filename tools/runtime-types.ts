/**
 * The TypeScript types of the runtime interface, made of what GET /v1/schemas answers by a generator that any author of a client might
 * use. `npm run types` writes them into types/; a test holds the file against the schemas.
 */
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { compile } from 'json-schema-to-typescript';
import { runtimeSchemas } from '../protocol/runtime/schemas.ts';
import type { JsonSchema } from '../protocol/schema/json-schema.ts';

export const TYPES_FILE = fileURLToPath(new URL('../../types/assistant-runtime.d.ts', import.meta.url));

const BANNER = `/**
 * Types of the Assistant Service's runtime interface (docs/runtime.md): bodies of requests, events of the stream, answers.
 * Made of GET /v1/schemas by \`npm run types\`; edit the schemas, not this file. Fields may be added: pass over what you do not know.
 */`;

function record(value: unknown): Record<string, unknown> {
  return value as Record<string, unknown>;
}

/** `schema` with a reference wherever `part` stands. */
function withReference(schema: unknown, part: unknown, reference: string): unknown {
  if (isDeepStrictEqual(schema, part)) return { $ref: reference };
  if (Array.isArray(schema)) return schema.map((each) => withReference(each, part, reference));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withReference(value, part, reference)]));
}

/** `turn.start` → `TurnStart`. */
function typeName(name: string): string {
  return name.replaceAll(/(?:^|[._])(\w)/g, (_, first: string) => first.toUpperCase());
}

/** One document of all schemas, each named for the type that it becomes. */
function document(): JsonSchema {
  const { events, requests, replies } = runtimeSchemas();
  const block = record(record(events['block.ready'].properties).block);
  const { oneOf, ...frame } = block as { oneOf: readonly Record<string, unknown>[] };
  const blocks = oneOf.map((each) => ({ ...each, title: `${typeName(String(each.title))}Block` }));
  const groups = Object.entries({ Event: events, Request: requests, Reply: replies }).map(([group, schemas]) => {
    const members = Object.entries(schemas).map(([name, schema]) => {
      const { $schema: _, ...rest } = record(withReference(schema, block, '#/$defs/Block'));
      return [name, { ...rest, title: `${typeName(name)}${group}` }] as const;
    });
    return [group, members] as const;
  });
  const defs = groups.flatMap(([group, members]) => members.map(([name, schema]) => [`${typeName(name)}${group}`, schema] as const));
  const streamEvents = Object.keys(events).map((name) => ({ $ref: `#/$defs/${typeName(name)}Event` }));
  return {
    title: 'AssistantRuntime',
    $defs: {
      Block: { ...frame, title: 'Block', oneOf: blocks },
      ...Object.fromEntries(defs),
      StreamEvent: { title: 'StreamEvent', oneOf: streamEvents },
    },
    type: 'object',
    additionalProperties: false,
    properties: {
      event: { $ref: '#/$defs/StreamEvent' },
      ...Object.fromEntries(
        groups.flatMap(([group, members]) => members.map(([name]) => [`${group}.${name}`, { $ref: `#/$defs/${typeName(name)}${group}` }])),
      ),
    },
  };
}

export function runtimeTypes(): Promise<string> {
  return compile(document() as never, 'AssistantRuntime', { bannerComment: BANNER, style: { singleQuote: true, printWidth: 140 } });
}
