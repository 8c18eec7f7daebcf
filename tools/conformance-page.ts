/** docs/conformance.md: the tests of each rule. `npm run conformance` writes it; a test holds the file against the titles. */
import { join } from 'node:path';
import { projectRoot } from '../tests/support/project-root.ts';
import type { Chapter, TitledTest } from './specification.ts';

export const CONFORMANCE_FILE = join(projectRoot(), 'docs', 'conformance.md');

const HEADER = `# Conformance

The rules of the [specification](specification/README.md), each with the tests whose titles name it. Files are those of \`tests/\`: \`npm test\` runs them, but for
\`bench/\`, \`program/\` and \`scenarios/\` (\`npm run test:system\`), \`browser/\` (\`npm run test:browser\`), \`kills/\` (\`npm run test:kills\`),
\`chaos/\` (\`npm run test:chaos\`) and \`fuzz/\` (\`npm run fuzz\`).
\`\${…}\` stands for what a title is generated from, so that such a line is a test for each case. \`npm run conformance\` writes this page: edit the rules and the titles.
`;

/** A title may hold what ends a cell or begins a tag. */
function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function chapterTable({ name, title, rules }: Chapter, tests: readonly TitledTest[]): string {
  const rows = rules.map(({ id }) => {
    const proofs = tests
      .filter(({ ids }) => ids.includes(id))
      .map((proof) => `\`${proof.file}\` · ${cell(proof.title.replace(/^[^:]*:\s*/, ''))}`);
    return `| ${id} | ${[...new Set(proofs)].join('<br>')} |`;
  });
  return [`## [${title}](specification/${name})`, '', '| rule | proven by |', '|---|---|', ...rows].join('\n');
}

/** The page, of the chapters in their order and the tests in the order of their files. */
export function conformancePage(chapters: readonly Chapter[], tests: readonly TitledTest[]): string {
  return `${[HEADER, ...chapters.map((chapter) => chapterTable(chapter, tests))].join('\n').replace(/\n## /g, '\n\n## ')}\n`;
}
