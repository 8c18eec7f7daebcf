/** The six writes that configure an app, once for both interfaces that serve them. */
import * as v from 'valibot';
import { Refusal } from '../protocol/errors.ts';
import { LOGO_MAX_BYTES } from '../protocol/limits.ts';
import { acceptDraft } from '../protocol/setup/accept.ts';
import { actionsBody } from '../protocol/setup/actions.ts';
import { appearanceBody } from '../protocol/setup/appearance.ts';
import { acceptItems } from '../protocol/setup/item-faults.ts';
import { knowledgeBody } from '../protocol/setup/knowledge.ts';
import { experiencePatch } from '../protocol/setup/persona.ts';
import { screensBody } from '../protocol/setup/screens.ts';
import type { SetupWrite, WriteKind } from '../protocol/setup/writes.ts';
import { type Callers, defineRoute, type Reply, type Route, type RouteInput } from './route.ts';
import type { Services } from './services.ts';

interface JsonWrite<Schema extends v.GenericSchema> {
  readonly method: 'PUT' | 'POST';
  readonly path: string;
  readonly body: Schema;
  toWrite(body: v.InferOutput<Schema>): SetupWrite;
}

const jsonWrite = <const Schema extends v.GenericSchema>(row: JsonWrite<Schema>) => row;

const appearance = jsonWrite({
  method: 'PUT',
  path: '/appearance',
  // Checked below, where a wrong shape (400) differs from a refused value (422).
  body: v.unknown(),
  toWrite: (body) => ({ kind: 'appearance', body: acceptDraft(appearanceBody, body, 'invalid_appearance') }),
});

const experience = jsonWrite({
  method: 'PUT',
  path: '/experience',
  // As for appearance.
  body: v.unknown(),
  toWrite: (body) => ({ kind: 'experience', patch: acceptDraft(experiencePatch, body, 'invalid_experience') }),
});

const knowledge = jsonWrite({
  method: 'POST',
  path: '/knowledge',
  // Judged item by item, as far as it can be.
  body: v.unknown(),
  toWrite: (body) => ({ kind: 'knowledge', items: acceptItems(knowledgeBody, body) }),
});

const actions = jsonWrite({
  method: 'POST',
  path: '/actions',
  // As for knowledge.
  body: v.unknown(),
  toWrite: (body) => ({ kind: 'actions', items: acceptItems(actionsBody, body) }),
});

const screens = jsonWrite({
  method: 'POST',
  path: '/screens',
  body: screensBody,
  toWrite: (body) => ({ kind: 'screens', body }),
});

type Writer = 'operator' | 'setup';

export type WriteInput<Kind extends Writer> = Pick<RouteInput<unknown, Callers[Kind]>, 'caller' | 'params'>;

export interface WriteFace<Kind extends Writer> {
  /** Goes before the path of each, e.g. `/setup`. */
  readonly prefix: string;
  readonly caller: Kind;
  /** Does something with a write whose body has passed its schema, and answers it. */
  perform(input: WriteInput<Kind>, write: SetupWrite, services: Services): Promise<Reply>;
  /** Hears of a write that was refused, before its caller does. */
  refused?(input: WriteInput<Kind>, kind: WriteKind, refusal: Refusal, services: Services): Promise<void>;
}

export function writeRoutes<const Kind extends Writer>({
  prefix,
  caller,
  perform,
  refused,
}: WriteFace<Kind>): Readonly<Record<WriteKind, Route>> {
  const tried = async (kind: WriteKind, input: WriteInput<Kind>, services: Services, write: () => SetupWrite) => {
    try {
      return await perform(input, write(), services);
    } catch (error) {
      if (error instanceof Refusal) await refused?.(input, kind, error, services);
      throw error;
    }
  };
  const jsonRoute = <Schema extends v.GenericSchema>(kind: WriteKind, { method, path, body, toWrite }: JsonWrite<Schema>) =>
    defineRoute<Kind, Schema>({
      method,
      path: prefix + path,
      caller,
      body,
      handle: (input, services) => tried(kind, input, services, () => toWrite(input.body as v.InferOutput<Schema>)),
    });
  const logo = defineRoute({
    method: 'POST',
    path: `${prefix}/logo`,
    caller,
    upload: { field: 'file', maxBytes: LOGO_MAX_BYTES },
    handle: (input, services) =>
      tried('logo', input, services, () => ({ kind: 'logo', content: Buffer.from(input.upload.bytes).toString('base64') })),
  });
  return {
    appearance: jsonRoute('appearance', appearance),
    logo,
    experience: jsonRoute('experience', experience),
    knowledge: jsonRoute('knowledge', knowledge),
    actions: jsonRoute('actions', actions),
    screens: jsonRoute('screens', screens),
  };
}
