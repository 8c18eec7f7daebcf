/** Runs commands in the test's own process, with what they print kept and a configuration made up. */

import type { CliConfig } from '../../../program/cli/command.ts';
import { runCli } from '../../../program/cli/run.ts';
import { settingsInForce } from '../../../program/config.ts';
import { examine } from '../../../program/doctor.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliFixture {
  run(...words: string[]): Promise<Ran>;
  /** How often a command has waited. */
  readonly pauses: number;
}

const NOWHERE: CliConfig = {
  host: '127.0.0.1',
  // Nobody listens there: a discard port that no service takes.
  port: 9,
  publicUrl: undefined,
  dataDir: '/nonexistent/assistant-data',
  operatorToken: undefined,
  masterKey: undefined,
};

/** `nowMs` is what the clock shows, `env` what commands read that look at the configuration itself. */
export function cliFixture(config: Partial<CliConfig> = {}, nowMs = 0, env: Readonly<Record<string, string>> = {}): CliFixture {
  const fixture = {
    pauses: 0,
    async run(...words: string[]): Promise<Ran> {
      let stdout = '';
      let stderr = '';
      const code = await runCli(words, {
        config: () => ({ ...NOWHERE, ...config }),
        settings: () => settingsInForce(env),
        examine: () => examine(env),
        print(text) {
          stdout += `${text}\n`;
        },
        note(text) {
          stderr += `${text}\n`;
        },
        nowMs: () => nowMs,
        pause() {
          fixture.pauses += 1;
          return Promise.resolve();
        },
      });
      return { code, stdout, stderr };
    },
  };
  return fixture;
}
