/** Code and tests keep to the words of the glossary in docs/architecture.md: no word of the list below stands in a name, a comment, a log line or a test title. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { filesBelow } from './support/files-below.ts';
import { projectRoot } from './support/project-root.ts';
import { ROOMS } from './support/rooms.ts';

/** What is not written, and what is written in its place. */
const FORBIDDEN: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [
    /(?:\*|\/\/) Of (?:an?|the|one|all|both|each|every|several|two|what|its|this|these|those|them)\b/,
    'begin with the subject of the comment',
  ],
  [/(?<![a-z])desk|Desk/, 'fixture'],
  [/conceal/i, 'redact'],
  [/second[-_ ]?tr(?:y|ies)/i, 'retry'],
  [/told[- ]?expired/i, 'expired'],
  [/\bgone by\b/i, 'over'],
  [/\bnobody['’]s to\b/i, 'say who does what'],
  [/seldom/i, 'rare, throttled'],
  [/\bhears? of it\b/i, 'receives'],
  [
    /\bturns? of the (?:event )?(?:loop|wheel)\b|\bloop turns?\b|\bsetImmediate as nextTurn\b|\b(?:tak(?:es?|ing) turns|in turn)\b/i,
    'a turn is a chat turn: loop tick, alternate, one after the other',
  ],
  [/\bcom(?:e|es|ing) to nothing\b|\bcame to nothing\b/i, 'fails'],
  [/\bdoes not get on\b|\bdo not get on\b/i, 'makes no progress'],
];

const root = projectRoot();

/** `folder/file:line: the line (what to write instead)` for each line that holds a forbidden word; a file's name is its line 0. */
function findForbidden(folder: string): string[] {
  return filesBelow(root, folder, '.ts').flatMap((path) => {
    if (path === 'tests/glossary.test.ts') return [];
    const lines = [path, ...readFileSync(join(root, path), 'utf8').split('\n')];
    return lines.flatMap((line, number) => {
      const [, instead] = FORBIDDEN.find(([pattern]) => pattern.test(line)) ?? [];
      return instead === undefined ? [] : [`${path}:${number}: ${line.trim()} (${instead})`];
    });
  });
}

describe('HOUSE-15: the code keeps to the glossary', () => {
  for (const folder of [...ROOMS, 'tests', 'bench', 'tools']) {
    test(`no word of the house dialect in ${folder}`, () => {
      const found = findForbidden(folder);
      assert.ok(found.length === 0, `${found.length} lines, of which the first:\n${found.slice(0, 20).join('\n')}`);
    });
  }
});
