/** GET /healthz, /readyz and /metrics (decisions §1): for whoever runs the process, not for SDKs. */
import type { GatewayMetrics } from '../metrics.ts';
import { defineRoute, json, type Route } from '../route.ts';

/** The process is up. */
const healthz = defineRoute({
  method: 'GET',
  path: '/healthz',
  caller: 'anyone',
  limits: [],
  body: null,
  handle: () => json({ status: 'ok' }),
});

/**
 * Ready to serve; 503 while draining, so that a load balancer sends no more. Says when the address guard is open to private
 * addresses: nobody should run so without knowing.
 */
const readyz = defineRoute({
  method: 'GET',
  path: '/readyz',
  caller: 'anyone',
  limits: [],
  body: null,
  handle: (_input, { config, draining }) => {
    const open = config.allowPrivateAddresses ? { allow_private_addresses: true } : {};
    return draining() ? json({ status: 'draining', ...open }, 503) : json({ status: 'ready', ...open });
  },
});

export function healthRoutes(metrics: GatewayMetrics): readonly Route[] {
  const prometheus = defineRoute({
    method: 'GET',
    path: '/metrics',
    caller: 'anyone',
    limits: [],
    body: null,
    async handle() {
      return { kind: 'text', status: 200, body: await metrics.render(), headers: { 'Content-Type': metrics.contentType } };
    },
  });
  return [healthz, readyz, prometheus];
}
