/** A shell to copy the examples of the setup file into, in which curl notes what it is asked for. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

/** The test key of GET /context, as curl answers it. */
export const TEST_KEY = 'rd_pk_test_abcdefghijklmnopqrstuvwx';

/** One call of curl. */
export interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly data: string | undefined;
  readonly form: string | undefined;
}

/** Stands in for curl: notes its arguments, and answers GET /context with keys. */
const FAKE_CURL = `curl() {
  printf '\\036' >&3; for argument in "$@"; do printf '%s\\037' "$argument" >&3; done
  case "$*" in */context*) printf '{"profile":{"description":"\\\\"test\\\\":\\\\"rd_pk_test_wrong"},"keys":{"test":"${TEST_KEY}","live":"rd_pk_live_x"}}' ;; esac
}`;

function callOf(words: readonly string[]): Call {
  const values = (flag: string) => words.flatMap((word, at) => (words[at - 1] === flag ? [word] : []));
  const url = words.find((word, at) => /^https?:/.test(word) && !['-d', '-H', '-F'].includes(words[at - 1] ?? ''));
  const [data] = values('-d');
  const [form] = values('-F');
  const method = values('-X')[0] ?? (data === undefined && form === undefined ? 'GET' : 'POST');
  return { method, url: url ?? '', headers: values('-H'), data, form };
}

/** What every example of the file asks curl for when it is copied into a shell. */
export function runExamples(file: string): Call[] {
  const blocks = [...file.matchAll(/^```sh\n([\s\S]*?)\n```$/gm)].map((match) => match[1] ?? '');
  const { status, output, error } = spawnSync('sh', ['-eu', '-c', [FAKE_CURL, ...blocks].join('\n')], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: 10_000,
  });
  assert.equal(error, undefined);
  assert.equal(status, 0, output[2] ?? '');
  assert.equal(output[2], '');
  return (output[3] ?? '')
    .split('\u001e')
    .slice(1)
    .map((call) => callOf(call.split('\u001f').slice(0, -1)));
}
