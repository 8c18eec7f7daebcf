/** The example apps as a team begins them: the package is made and installed, the app is built, and somebody asks in a browser. Asks the registry. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openWorld } from '../browser/browser.ts';
import { serveHostPages } from '../browser/host-page.ts';
import { type ScriptedChat, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { projectRoot } from '../support/project-root.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const root = projectRoot();

function run(cwd: string, env: Readonly<Record<string, string>>, command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: { ...process.env, ...env }, encoding: 'utf8' });
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** Installs the example with the package of this tree and builds it. Returns where it is. */
function built(t: TestContext, example: string, pack: string, env: Readonly<Record<string, string>>): string {
  const dir = temporaryDir(t);
  const [made, app] = [join(dir, 'package'), join(dir, 'app')];
  run(root, {}, process.execPath, 'web/pack.mjs', pack, made);
  const [{ filename }] = JSON.parse(run(made, {}, 'npm', 'pack', '--json', '--pack-destination', dir)) as [{ filename: string }];
  cpSync(join(root, 'examples', example), app, { recursive: true });
  run(app, {}, 'npm', 'install', '--no-audit', '--no-fund', join(dir, filename));
  run(app, { ...env, NEXT_TELEMETRY_DISABLED: '1' }, 'npm', 'run', 'build');
  return app;
}

async function assertAnswers(page: Page, it: ScriptedChat): Promise<void> {
  await page.getByRole('button', { name: 'Ask the assistant' }).click();
  it.script([{ call: 'get_order', args: { order_id: 'A-1042' }, id: 'call_order' }], [{ text: 'It is on its way to Zwolle.' }]);
  await page.getByLabel('Write a message').fill('Where is A-1042?');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('It is on its way to Zwolle.').waitFor();
  assert.match(it.toldOf('call_order'), /shipped/);
}

test('WIDGET-12: the Next.js example is built and answers, and the widget stays from page to page', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const env = { NEXT_PUBLIC_ASSISTANT_ADDRESS: it.service.baseUrl, NEXT_PUBLIC_ASSISTANT_KEY: it.app.testKey };
  const app = built(t, 'next', 'react', env);
  const server = spawn(process.execPath, ['node_modules/next/dist/bin/next', 'start', '-p', '0'], {
    cwd: app,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => server.kill());
  let said = '';
  const address = await new Promise<string>((resolve, reject) => {
    server.stdout.on('data', (data: Buffer) => {
      said += data.toString();
      const [found] = /http:\/\/localhost:\d+/.exec(said) ?? [];
      if (found !== undefined && said.includes('Ready')) resolve(found);
    });
    server.on('exit', () => reject(new Error(said)));
  });
  const { page } = await world.open();
  await page.goto(address);
  await assertAnswers(page, it);
  await page.getByRole('link', { name: 'Your orders' }).click();
  await page.getByRole('heading', { name: 'Your orders' }).waitFor();
  assert.ok(await page.getByText('It is on its way to Zwolle.').isVisible());
});

test('NATIVE-1, NATIVE-5: the example of React Native is built for the web and answers', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const app = built(t, 'react-native-web', 'react-native', { ASSISTANT_ADDRESS: it.service.baseUrl, ASSISTANT_KEY: it.app.testKey });
  const [html, script] = ['index.html', 'app.js'].map((name) => readFileSync(join(app, 'dist', name), 'utf8')) as [string, string];
  const pages = await serveHostPages(t, { '/app': { html, script } });
  const { page } = await world.open({ viewport: { width: 390, height: 844 } });
  await page.goto(pages.url('/app'));
  await assertAnswers(page, it);
});
