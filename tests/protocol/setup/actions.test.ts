import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { actionsBody } from '../../../protocol/setup/actions.ts';
import { accepts, judge, READ, refuses, WRITE } from './judging.ts';

test('SERVERACTION-2: defaults are filled in, and nothing else is added', () => {
  assert.deepEqual(judge(READ), {
    form: 'action',
    item: {
      ...READ,
      risk: 'read',
      params: [{ name: 'id', description: '', required: true, type: 'string' }],
      result_fields: [],
      result_limit: 5,
      timeout_ms: 10_000,
      auth: 'none',
    },
  });
});

test('SERVERACTION-2: external_key, name, description, method and url_template are required', () => {
  for (const field of ['name', 'description', 'method', 'url_template']) refuses(READ, field, { [field]: undefined });
  refuses(READ, 'external_key', { external_key: '' }, { external_key: ' ' }, { external_key: 'x'.repeat(201) });
  refuses(READ, 'name', { name: 'getOrder' }, { name: 'get__order' }, { name: 'x'.repeat(65) }, { name: '' });
  refuses(READ, 'description', { description: '' }, { description: ' ' }, { description: '😀'.repeat(501) });
  refuses(READ, 'method', { method: 'HEAD' }, { method: 'get' });
  refuses(READ, 'risk', { risk: 'harmless' });
  accepts(READ, { name: 'x'.repeat(64), description: '😀'.repeat(500), external_key: 'x'.repeat(200), reason: 'r' });
});

test('SERVERACTION-3: confirm_template is required for a write, has at most 300 characters, and marks declared parameters only', () => {
  refuses(
    WRITE,
    'confirm_template',
    { confirm_template: undefined },
    { confirm_template: undefined, risk: 'destructive' },
    { confirm_template: ' ' },
    { confirm_template: 'x'.repeat(301) },
    { confirm_template: 'Cancel {order}?' },
    { confirm_template: 'Cancel {{param.id}}?' },
    { confirm_template: 'Cancel {id?' },
  );
  accepts(WRITE, { confirm_template: 'Sure?' }, { confirm_template: `{id}${'x'.repeat(296)}` });
  accepts(READ, { confirm_template: undefined });
});

test('SERVERACTION-4: url_template is a production https address', () => {
  refuses(
    READ,
    'url_template',
    ...[
      '',
      'http://api.example.com/',
      'ftp://api.example.com/',
      '//api.example.com/',
      'api.example.com',
      'https://',
      'https://localhost/',
      'https://10.0.0.1/',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://[::1]/',
      'https://api.example.com:0/',
      'https://api.example.com:65536/',
      'https://api.example.com/a b',
      'https://api.example.com\\@evil.example/',
      'https://api.example.com/\n',
      `https://api.example.com/${'x'.repeat(2_048)}`,
    ].map((url_template) => ({ url_template })),
  );
  accepts(READ, { url_template: 'https://api.example.com' }, { url_template: 'https://API.example.com:65535/a%20b?c[]=1&d=ü#e' });
});

test('SERVERACTION-4: url_template marks declared parameters only, never in scheme, user, host or port', () => {
  refuses(
    READ,
    'url_template',
    ...[
      '{{param.id}}://api.example.com/',
      '{{param.id}}',
      'https://{{param.id}}/',
      'https://{{param.id}}.example.com/',
      'https://api.{{param.id}}/',
      'https://api.example.com:{{param.id}}/',
      'https://api.example.com{{param.id}}',
      'https://{{param.id}}@api.example.com/',
      'https://api.example.com/{{param.other}}',
      'https://api.example.com/{{ param.id }}',
      'https://api.example.com/{{id}}',
      'https://api.example.com/{id}',
      'https://api.example.com/{{param.id}',
    ].map((url_template) => ({ url_template })),
  );
  accepts(
    READ,
    { url_template: 'https://api.example.com?q={{param.id}}' },
    { url_template: 'https://a.example/{{param.id}}{{param.id}}#{{param.id}}' },
  );
});

test('SERVERACTION-5: body_template is a JSON object once its markers are values, for POST, PUT and PATCH', () => {
  accepts(
    WRITE,
    { body_template: '{}' },
    { body_template: '{"id": "{{param.id}}", "n": {{param.id}}, "l": [{{param.id}}, "a {{param.id}} b"]}' },
    { method: 'PUT', body_template: '{"a":1}' },
    { method: 'PATCH', body_template: ' {"a":1}\n' },
  );
  const malformed = [
    '',
    '[]',
    '"{}"',
    'null',
    '{',
    '{a: 1}',
    "{'a': 1}",
    '{"a": 1,}',
    '{{param.id}}',
    '{"a": {{param.other}}}',
    '{"a": {{id}}}',
  ];
  const spliced = [
    '{"a": 1{{param.id}}}',
    '{"a": -{{param.id}}}',
    '{"a": {{param.id}}{{param.id}}}',
    '{"a": "\\{{param.id}}"}',
    '{"{{param.id}}": 1}',
  ];
  refuses(WRITE, 'body_template', ...[...malformed, ...spliced].map((body_template) => ({ body_template })), {
    body_template: JSON.stringify({ a: 'x'.repeat(10_000) }),
  });
  refuses(READ, 'body_template', { body_template: '{}' });
  refuses(WRITE, 'body_template', { method: 'DELETE', body_template: '{}' });
});

test('SERVERACTION-6: at most 20 parameters, each named once, with values of the type', () => {
  const params = (...list: unknown[]) => ({ params: [{ name: 'id' }, ...list] });
  accepts(
    READ,
    params({ name: 'n', type: 'number', enum: [1, 2], example: 1 }),
    params({ name: 'flag', type: 'boolean', example: false }),
    params({ name: 'tags', type: 'array', enum: ['a', 'b'], example: ['a'] }),
    params({ name: 'ids', type: 'array', items: 'number', enum: [1], example: [1, 2] }),
    params({ name: 's', enum: Array.from({ length: 50 }, (_, index) => `v${index}`) }),
    params(...Array.from({ length: 19 }, (_, index) => ({ name: `p${index}` }))),
  );
  refuses(READ, 'params', params({ name: 'id' }), params(...Array.from({ length: 20 }, (_, index) => ({ name: `p${index}` }))));
  refuses(READ, 'params[1].name', params({}), params({ name: '' }), params({ name: 'a-b' }), params({ name: 'x'.repeat(65) }));
  refuses(READ, 'params[1].type', params({ name: 'a', type: 'object' }));
  refuses(READ, 'params[1].items', params({ name: 'a', items: 'string' }), params({ name: 'a', type: 'array', items: 'array' }));
  refuses(
    READ,
    'params[1].enum',
    params({ name: 'a', enum: [] }),
    params({ name: 'a', enum: [1] }),
    params({ name: 'a', type: 'number', enum: [1, '2'] }),
    params({ name: 'a', type: 'array', items: 'boolean', enum: ['a'] }),
    params({ name: 'a', enum: ['x', 'x'] }),
    params({ name: 'a', enum: Array.from({ length: 51 }, (_, index) => `v${index}`) }),
  );
  refuses(
    READ,
    'params[1].example',
    params({ name: 'a', example: 1 }),
    params({ name: 'a', example: ['x'] }),
    params({ name: 'a', type: 'array', example: 'x' }),
    params({ name: 'a', type: 'array', items: 'number', example: ['1'] }),
    params({ name: 'a', example: { b: 1 } }),
  );
});

test('SERVERACTION-6: result_limit 1 to 50, timeout_ms 1,000 to 30,000, results by dotted paths', () => {
  accepts(READ, { result_limit: 1, timeout_ms: 1_000 }, { result_limit: 50, timeout_ms: 30_000 });
  accepts(READ, { result_path: 'data.items', result_fields: ['id', 'price.amount'] });
  refuses(READ, 'result_limit', { result_limit: 0 }, { result_limit: 51 }, { result_limit: 1.5 });
  refuses(READ, 'timeout_ms', { timeout_ms: 999 }, { timeout_ms: 30_001 });
  refuses(READ, 'result_path', { result_path: '' }, { result_path: '.a' }, { result_path: 'a..b' }, { result_path: 'a b' });
  refuses(READ, 'result_fields', { result_fields: ['a', 'a'] }, { result_fields: Array.from({ length: 21 }, (_, index) => `f${index}`) });
  refuses(READ, 'result_fields[0]', { result_fields: ['a.'] });
});

test('SERVERACTION-1: archiving takes op and external_key, and nothing of an action', () => {
  assert.deepEqual(judge({ external_key: 'a', op: 'archive', reason: 'r' }), {
    form: 'archive',
    item: { external_key: 'a', op: 'archive', reason: 'r' },
  });
  refuses({ external_key: 'a', op: 'archive' }, 'op', { op: 'delete' });
  refuses({ external_key: 'a', op: 'archive' }, 'name', { name: 'a' });
  refuses({ external_key: 'a', op: 'archive' }, 'external_key', { external_key: '' });
});

test('SETUP-30: the error names up to three wrong fields in one sentence, each once, and counts the others', () => {
  const errorOf = (item: Parameters<typeof judge>[0]) => {
    const judged = judge(item);
    return judged.form === 'refused' ? judged.error : judged.form;
  };
  assert.equal(errorOf({ ...WRITE, confirm_template: undefined }), 'confirm_template is required for a write or destructive action');
  assert.match(errorOf({ ...READ, name: 'getOrder', method: 'HEAD' }), /^name [^;]+; method must be one of [^;]+$/);
  const three = errorOf({ ...READ, name: 'getOrder', method: 'HEAD', result_limit: 0 });
  assert.deepEqual(
    three.split('; ').map((part) => part.split(' ')[0]),
    ['name', 'method', 'result_limit'],
  );
  assert.match(errorOf({ external_key: 'a' }), /^name is required; description is required; method is required \(and 1 more\)$/);
  // Longer than allowed and not https: two faults of one field.
  assert.equal(errorOf({ ...READ, url_template: `ftp://${'x'.repeat(3_000)}` }).match(/url_template /g)?.length, 1);
});

test('SETUP-26, SERVERACTION-1: the body is 1 to 50 items; an unknown field or a wrong type anywhere refuses it as a whole', () => {
  const pathOf = (body: unknown) =>
    v
      .safeParse(actionsBody, body)
      .issues?.[0]?.path?.map(({ key }) => key)
      .join('.') ?? '';
  assert.ok(v.is(actionsBody, { items: Array(50).fill(READ) }));
  assert.equal(pathOf({ items: [] }), 'items');
  assert.equal(pathOf({ items: Array(51).fill(READ) }), 'items');
  assert.equal(pathOf({ items: [READ], more: 1 }), 'more');
  assert.equal(pathOf({ items: [{ ...READ, token: 'x' }] }), 'items.0.token');
  assert.equal(pathOf({ items: [{ ...READ, timeout_ms: '5000' }] }), 'items.0.timeout_ms');
  assert.equal(pathOf({ items: [{ ...READ, params: { id: {} } }] }), 'items.0.params');
  assert.equal(pathOf({ items: [READ, { ...READ, params: [{ name: 'a', secret: 1 }] }] }), 'items.1.params.0.secret');
  assert.equal(pathOf({ items: [{ name: 'a' }] }), 'items.0.external_key');
});

test('SERVERACTION-4: in development localhost and literal addresses are taken, over http too', () => {
  for (const url_template of [
    'http://localhost:3000/{{param.id}}',
    'https://127.0.0.1/x',
    'http://[::1]:8080/',
    'https://api.example.com/',
  ]) {
    assert.equal(judge({ ...READ, url_template }, 'development').form, 'action', url_template);
  }
  for (const url_template of ['http://api.example.com/', 'http://2130706433/', 'http://localhost.example.com/', 'http://u:p@localhost/']) {
    assert.equal(judge({ ...READ, url_template }, 'development').form, 'refused', url_template);
  }
});
