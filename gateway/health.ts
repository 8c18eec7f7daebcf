/** GET /healthz, /readyz and /metrics (RUN-10, RUN-11): for operators and load balancers, not for SDKs. */
import { isEnding } from '../actors/node.ts';
import { Refusal } from '../protocol/errors.ts';
import type { ConditionName } from '../storage/health/conditions.ts';
import { shownConditions } from './conditions.ts';
import { authenticateOperator } from './console/operator-session.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { RateBuckets } from './rate-limit.ts';
import { RELEASE } from './release.ts';
import { json, publicRoute, type Reply, type Route } from './route.ts';
import type { Services } from './services.ts';

/** Shown to operators only: a load balancer should keep sending requests, and what fails beside this service is no stranger's business. */
const FOR_OPERATORS: ReadonlySet<ConditionName> = new Set([
  'model_unusable',
  'model_failing',
  'backend_failing',
  'knowledge_failing',
  'mail_failing',
  'credit_ends',
]);

const healthz = publicRoute('/healthz', () => json({ status: 'ok' }));

interface Asker {
  header(name: string): string;
  readonly address: string;
}

/** Another credential, as a proxy may send, makes a stranger: a refusal would take the node out of service. Wrong bearers are counted. */
function isOperator({ header, address }: Asker, services: Services, buckets: RateBuckets): boolean {
  if (header('authorization') === '') return false;
  try {
    buckets.refuseGuesses('readyz', address);
    try {
      authenticateOperator(header, 'GET', services);
      return true;
    } catch (error) {
      if (error instanceof Refusal) buckets.failed('readyz', address);
      throw error;
    }
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/**
 * 200 `ready`, or `degraded` with what is wrong, because what can be served is; 503 while warming, draining or taken over. Open private addresses
 * and an open demo are said, so that nobody runs them unknowingly; names only to the operator.
 */
function readiness(asker: Asker, services: Services, buckets: RateBuckets): Reply {
  const { config, demo, load, node, parsersIsolated, starts, storage } = services;
  const knowsAll = isOperator(asker, services, buckets);
  const open = {
    ...(knowsAll && { version: RELEASE }),
    ...(config.allowPrivateAddresses && { allow_private_addresses: true }),
    ...(config.isExposed === true && demo !== undefined && { demo: true }),
    ...(parsersIsolated === false && knowsAll && { parsers_isolated: false }),
    ...((load?.overloaded === true || starts?.stats().isRefusing === true) && { overloaded: true }),
  };
  if (isEnding(node)) return json({ status: 'draining', ...open }, 503);
  if (services.isWarming?.() === true) return json({ status: 'warming', ...open }, 503);
  const held = storage.conditions.list();
  if (held.length === 0) return json({ status: 'ready', ...open });
  const conditions = knowsAll ? held : held.filter(({ name }) => !FOR_OPERATORS.has(name));
  if (conditions.length === 0) return json({ status: 'ready', ...open });
  const shown = shownConditions(conditions, knowsAll);
  if (storage.conditions.holds('fenced')) return json({ status: 'fenced', ...open, conditions: shown }, 503);
  return json({ status: 'degraded', ...open, conditions: shown });
}

/** `buckets` count the wrong bearers of /readyz. */
export function healthRoutes(metrics: GatewayMetrics, buckets: RateBuckets): readonly Route[] {
  const readyz = publicRoute('/readyz', (asker, services) => readiness(asker, services, buckets));
  const prometheus = publicRoute('/metrics', async () => {
    return { kind: 'text', status: 200, body: await metrics.render(), headers: { 'Content-Type': metrics.contentType } };
  });
  return [healthz, readyz, prometheus];
}
