import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defuseMarkdown } from '../../../../protocol/catalog/markdown.ts';
import { asWritten } from '../../../../web/sdk/prose/as-written.ts';

test('WIDGET-20: tags whose brackets the service took are told and copied as they were written, and other marks stay', () => {
  for (const md of ['Use <b>bold</b> here.', '<br/> and <!-- a note -->', 'a < b and c > d', '‹quoted› and ‹so›'])
    assert.equal(asWritten(defuseMarkdown(md)), md);
});
