/** The running program, and apps of it with the console interface below each. */
import type { TestContext } from 'node:test';
import { type Answer, type Client, createClient, createOperator, createTestApp, type TestApp } from '../../support/client.ts';
import { type RunningService, startService } from '../../support/service.ts';

export interface ConsoleApp {
  readonly service: RunningService;
  readonly app: TestApp;
  /** With the test key. */
  readonly client: Client;
  /** A request to `/console/api/apps/:app` + path, as the operator. */
  console(method: string, path: string, body?: unknown): Promise<Answer>;
}

/** A new app, live, of a new organisation. */
export async function consoleApp(service: RunningService, settings: Readonly<Record<string, unknown>> = {}): Promise<ConsoleApp> {
  const app = await createTestApp(service.baseUrl, service.operatorToken, settings);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const client = createClient(service.baseUrl, app.testKey);
  return { service, app, client, console: (method, path, body) => operator(method, `/apps/${app.appId}${path}`, body) };
}

export async function startConsoleApp(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<ConsoleApp> {
  return consoleApp(await startService(t, { env: { DEMO: 'off', ...env } }));
}
