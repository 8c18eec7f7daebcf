/** What was shown, as one page for people and as one text that is kept beside the code. Pure but for counting tokens. */
import { countTokens, type ModelRequest } from '../meters/request-tokens.ts';
import { escaped, pageHtml, tableHtml } from '../page/html.ts';
import type { Played } from './play.ts';
import { definitionParts, messageParts, type Part, steady, systemOf } from './shown-text.ts';

const lastOf = ({ requests, scenario }: Played) => {
  const request = requests.at(-1);
  if (request === undefined) throw new Error(`${scenario.name} asked the model nothing`);
  return request;
};

/** The request with the most tools: the others have some of them. */
function whole(played: readonly Played[]) {
  const requests = played.map(lastOf);
  const most = Math.max(...requests.map(({ tools = [] }) => tools.length));
  const request = requests.find(({ tools = [] }) => tools.length === most);
  if (request === undefined) throw new Error('nothing was played');
  return request;
}

const partText = ({ title, text }: Part) => `[${title}]\n${text}`;

/** Kept in the repository, so that a change of a word is seen in review. */
export async function shownText(played: readonly Played[]): Promise<string> {
  const request = whole(played);
  const { messages, tools = [] } = request;
  // Without what differs from run to run: a mark of other letters has other tokens.
  const tokens = await countTokens(JSON.parse(steady(JSON.stringify({ messages: messages.slice(0, 1), tools }))) as ModelRequest);
  const scenarios = played.map(
    (each) => `## ${each.scenario.name}: ${each.scenario.about}\n\n${messageParts(lastOf(each)).map(partText).join('\n\n')}`,
  );
  return `${[
    'What the model is shown in each scenario, made by `npm run shown`. Instructions and definitions are the same in all and stand first.',
    `# Instructions (${tokens.messages} tokens)\n\n${systemOf(request)}`,
    `# Definitions (${tokens.tools} tokens)\n\n${definitionParts(request).map(partText).join('\n\n')}`,
    `# Messages of ${played.length} scenarios`,
    ...scenarios,
  ].join('\n\n')}\n`;
}

const partHtml = ({ title, text }: Part) => `<h3>${escaped(title)}</h3><pre>${escaped(text)}</pre>`;

/** Every scenario with all that its request holds. */
export async function shownPage(played: readonly Played[]): Promise<string> {
  const sections: string[] = [];
  const rows: string[][] = [];
  for (const each of played) {
    const { name, about } = each.scenario;
    const request = lastOf(each);
    const sizes = await countTokens({
      messages: request.messages.map(({ role, content, tool_calls }) => ({
        role,
        content: [
          typeof content === 'string' ? content : JSON.stringify(content ?? ''),
          tool_calls === undefined ? '' : JSON.stringify(tool_calls),
        ].join(''),
      })),
      tools: request.tools ?? [],
    });
    rows.push([
      name,
      about,
      `${request.messages.length}`,
      `${sizes.messages}`,
      `${sizes.tool_definitions}`,
      `${sizes.tools}`,
      `${sizes.bytes}`,
    ]);
    sections.push(
      `<section id="${name}"><h2>${escaped(name)} <small>${escaped(about)}, ${sizes.messages + sizes.tools} tokens</small></h2>` +
        `<details><summary>Instructions</summary><pre>${escaped(systemOf(request))}</pre></details>` +
        `<details><summary>${sizes.tool_definitions} definitions</summary>${definitionParts(request).map(partHtml).join('')}</details>` +
        `${messageParts(request).map(partHtml).join('')}</section>`,
    );
  }
  const columns = ['scenario', 'about', 'messages', 'tokens of them', 'definitions', 'tokens of them', 'bytes'];
  const links = played.map(({ scenario: { name } }) => `<a href="#${name}">${escaped(name)}</a>`).join('');
  const title = 'What the model is shown';
  return pageHtml(
    title,
    `<h1>${title}</h1><p>The last request of each scenario. Marks, ids and the time are made steady.</p><details><summary>Scenarios</summary><p>${links}</p></details>${tableHtml({ columns, rows })}${sections.join('\n')}`,
  );
}
