/** A question as a command for a shell. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { askAgainCommand } from '../../../web/console/traces/ask-again.ts';

/** What a shell makes of the command's words, with a curl that only prints them. */
function wordsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }; openssl() { echo dddd; }; KEY=rd_pk_test_1; ${command}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

test('TRIAL-5: whatever a person said, a shell sends it as it was, and runs none of it', () => {
  const text = fc.oneof(fc.string({ maxLength: 60 }), fc.constantFrom("it's", '$(touch x)', '`id`', "'; id; '", '\\', '⟦email_1⟧ "a"'));
  fc.assert(
    fc.property(text, (said) => {
      const words = wordsOf(askAgainCommand('http://127.0.0.1:8787', said));
      assert.equal(words[1], 'http://127.0.0.1:8787/v1/chat');
      assert.deepEqual(words.slice(2, 6), ['-H', 'X-Service-Key: rd_pk_test_1', '-H', 'X-Service-Device: dddd']);
      assert.equal((JSON.parse(words.at(-1) ?? '') as { message: { text: string } }).message.text, said);
    }),
    { numRuns: 60 },
  );
});
