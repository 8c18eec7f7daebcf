/** The running program with one app, and the console interface below that app. */
import type { TestContext } from 'node:test';
import { type Answer, createOperator, createTestApp, type TestApp } from '../../support/client.ts';
import { type RunningService, startService } from '../../support/service.ts';

export interface ConsoleApp {
  readonly service: RunningService;
  readonly app: TestApp;
  /** A request to `/console/api/apps/:app` + path, as the operator. */
  console(method: string, path: string, body?: unknown): Promise<Answer>;
}

export async function startConsoleApp(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<ConsoleApp> {
  const service = await startService(t, { env: { DEMO: 'off', ...env } });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  return { service, app, console: (method, path, body) => operator(method, `/apps/${app.appId}${path}`, body) };
}
