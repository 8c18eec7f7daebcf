/** Which addresses stood in a text as a whole, and that hostile texts cost little. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchable, type Told } from '../../assistant/fetched-addresses.ts';

const told = (text: string, more: Partial<Told> = {}): Told => ({
  messages: [{ role: 'tool', toolCallId: 'c', name: 'find', content: text }],
  fromQuestion: 0,
  passages: [],
  configuration: '',
  ...more,
});
const may = (text: string, address: string, hosts: readonly string[] = []) => fetchable(hosts, () => told(text))(address);

const A = 'https://a.example/p(1).png?x=1&y=%20~b';

for (const text of [
  A,
  `{"url":"${A}"}`,
  `![x](${A})`,
  `<${A}>`,
  `see ${A}.`,
  `**${A}**,`,
  `写真：${A}をご覧`,
  `'${A}';`,
  `[${A}]`,
  `x\n${A}\n`,
  `url:\t${A}\\n`,
]) {
  test(`BLOCK-24: the address stands in ${text}`, () => assert.equal(may(text, A), true));
}

for (const [text, address] of [
  [`${A}z`, A],
  [A, `${A}z`],
  [A, A.slice(0, -3)],
  [A, A.toUpperCase()],
  [A, A.replace('%20', ' ')],
  [A, A.replace('https', 'http')],
  [`https://b.example/?to=${A}`, A],
  [`https://b.example/${A}`, A],
  ['http://a.example/p.png', 'http://a.example/p.png'],
  ['//a.example/p.png', '//a.example/p.png'],
  ['data:image/png;base64,AA', 'data:image/png;base64,AA'],
  ['https://me@a.example/p.png', 'https://me@a.example/p.png'],
  ['https://a.example/⟦email_1⟧', 'https://a.example/⟦email_1⟧'],
  ['https://a.example/x', 'https://a.example/⟦email⟧'],
] as const) {
  test(`BLOCK-24: ${address} does not stand in ${text}`, () => assert.equal(may(text, address), false));
}

test('BLOCK-24: a host of the app needs no text, and none is read for it', () => {
  const unread = fetchable(['a.example', '*.b.example'], () => assert.fail('read'));
  for (const address of ['https://a.example/x', 'https://A.EXAMPLE/x', 'https://c.b.example:444/x']) assert.ok(unread(address), address);
});

test('BLOCK-24: an address that the model had named in a call of an earlier turn counts in no result, and results of earlier turns tell none', () => {
  const calls = [{ id: 'c', name: 'find', arguments: JSON.stringify({ q: A }) }];
  const { messages: result } = told(A);
  const earlier = [
    { role: 'assistant', content: '', toolCalls: calls },
    { role: 'user', content: 'And now?' },
  ] as const;
  const judge = (messages: Told['messages'], fromQuestion: number) => fetchable([], () => told(A, { messages, fromQuestion }))(A);
  assert.equal(judge([...earlier, ...result], 1), false);
  assert.equal(judge([...result, ...earlier.slice(1)], 1), false);
  assert.equal(judge([...earlier.slice(1), ...result], 0), true);
});

test('BLOCK-24, SAFE-1: what is read is bounded, and read once', () => {
  const pieces = ['https://', 'https://a.example/' + ')'.repeat(50), '!', 'https://a.example/x ', 'https://https://'];
  const hostile = pieces.map((piece) => piece.repeat(400_000 / piece.length)).join(' ');
  const calls = [{ id: 'c', name: 'find', arguments: JSON.stringify({ q: '%68'.repeat(30_000) }) }];
  const started = process.cpuUsage();
  let reads = 0;
  const judge = fetchable([], () => {
    reads += 1;
    return told(hostile, { messages: [{ role: 'assistant', content: '', toolCalls: calls }, ...told(hostile).messages] });
  });
  let shown = 0;
  for (let n = 0; n < 5_000; n++) if (judge('https://a.example/x')) shown += 1;
  const { user, system } = process.cpuUsage(started);
  assert.deepEqual([reads, shown], [1, 100]);
  assert.ok((user + system) / 1_000 < 20_000, `${(user + system) / 1_000} ms`);
});
