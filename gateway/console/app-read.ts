/** Routes about an app: the shape that these console routes share. */
import type * as v from 'valibot';
import { defineRoute, json, type Method, type Reply, type Route, type RouteInput } from '../route.ts';
import type { Services } from '../services.ts';
import { type FoundApp, requireApp } from './lookup.ts';

type BodyOf<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : null;

/** A route at `/console/api/apps/:app` + `path`; `body` undefined: it reads none. 404 when there is no such app. */
export function appRoute<const Schema extends v.GenericSchema | undefined>(
  method: Method,
  path: string,
  body: Schema,
  handle: (found: FoundApp, input: RouteInput<BodyOf<Schema>, null>, services: Services) => Reply | Promise<Reply>,
): Route {
  return defineRoute({
    ...{ method, path: `/console/api/apps/:app${path}`, caller: 'operator' },
    ...(body === undefined ? {} : { body }),
    handle: (input: RouteInput<unknown, null>, services) =>
      handle(requireApp(services, input.params.app), input as RouteInput<BodyOf<Schema>, null>, services),
  });
}

/** Answers GET with the JSON that `answer` makes of the app. */
export function appRead<Answer = unknown>(
  path: string,
  answer: (found: FoundApp, query: URLSearchParams, services: Services) => Answer,
): Route {
  return appRoute('GET', path, undefined, (found, { query }, services) => json(answer(found, query, services)));
}
