/** GET of something that an app has: the shape that these console routes share. */
import { defineRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { type FoundApp, requireApp } from './lookup.ts';

/** Answers GET `/console/api/apps/:app` + `path` with the JSON that `answer` makes of the app. 404 when there is no such app. */
export function appRead<Answer = unknown>(
  path: string,
  answer: (found: FoundApp, query: URLSearchParams, services: Services) => Answer,
): Route {
  return defineRoute({
    method: 'GET',
    path: `/console/api/apps/:app${path}`,
    caller: 'operator',
    handle: ({ params, query }, services) => json(answer(requireApp(services, params.app), query, services)),
  });
}
