/** Privacy placeholders: redacted before anything is stored, restored for the owner, sealed at rest. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { openRedaction, type Redaction, type RedactionOptions, redactionOf, TOLD_NUMBERED_MAX } from '../../../actors/people/redaction.ts';
import { countPlaceholders, insertPlaceholders } from '../../../storage/conversations/placeholders.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { type StoredApp, storeApp } from '../setup/app-in-storage.ts';

const NOW_MS = Date.UTC(2026, 0, 15);
const CONVERSATION = 'cnv_1';

interface Fixture extends StoredApp {
  /** What a turn or a request opens, with the count as it stands. */
  open(changes?: Partial<RedactionOptions>): Redaction;
  /** Stores the conversation with these rows, as openTurn does. */
  store(rows: ReturnType<Redaction['newRows']>): void;
}

async function openFixture(t: TestContext): Promise<Fixture> {
  const app = await storeApp(t, NOW_MS);
  const { storage, organisationId, appId } = app;
  const conversation = { organisationId, conversationId: CONVERSATION };
  const count = () => countPlaceholders(storage.organisation(organisationId), CONVERSATION) ?? 0;
  return {
    ...app,
    open: (changes) => openRedaction({ storage, ...conversation, isNew: false, count: count(), regions: ['DE'], ...changes }),
    store(rows) {
      const db = openWriter(storage.layout.organisation(organisationId));
      db.statement(
        `INSERT INTO conversations (id, app_id, channel, device_id, epoch, created_at_ms, updated_at_ms)
         VALUES (:id, :appId, 'live', '', 1, :nowMs, :nowMs)`,
      ).run({ id: CONVERSATION, appId, nowMs: NOW_MS });
      insertPlaceholders(db, CONVERSATION, rows);
      db.close();
    },
  };
}

describe('Redaction of a new conversation', () => {
  test('PRIVACY-7: numbers are given at once, the rows go with the conversation, and whoever opens it later restores them', async (t) => {
    const fixture = await openFixture(t);
    const redaction = fixture.open({ isNew: true });
    const kept = redaction.redact({ text: 'a@b.de or 0176 1234 5678', state: { mail: 'a@b.de', list: ['c@d.de'] } });
    assert.deepEqual(kept, { text: '⟦email_1⟧ or ⟦phone_1⟧', state: { mail: '⟦email_1⟧', list: ['⟦email_2⟧'] } });
    assert.deepEqual(
      redaction.newRows().map(({ kind, number }) => [kind, number]),
      [
        ['email', 1],
        ['phone', 1],
        ['email', 2],
      ],
    );
    fixture.store(redaction.newRows());
    redaction.opened();
    assert.deepEqual(redaction.newRows(), []);
    const told = { text: 'a@b.de or 0176 1234 5678', state: { mail: 'a@b.de', list: ['c@d.de'] } };
    assert.deepEqual(redaction.restore(kept), told);
    assert.deepEqual(fixture.open().restore(kept), told);
    assert.equal(await redaction.redact('c@d.de, e@f.de'), '⟦email_2⟧, ⟦email_3⟧');
  });

  test('PRIVACY-7: without personal data nothing is read, and values pass as they are', () => {
    const untouched = () => assert.fail('storage was touched');
    const storage = { organisation: untouched, write: untouched } as unknown as RedactionOptions['storage'];
    const redaction = openRedaction({
      storage,
      organisationId: 'org_1',
      conversationId: CONVERSATION,
      isNew: false,
      count: 3,
      regions: ['DE'],
    });
    const value = { text: 'Where is order 1234567890?', list: [1, null, 'x'] };
    assert.equal(redaction.redact(value), value);
    assert.equal(redaction.redactKnown(value), value);
    assert.equal(redaction.restore(value), value);
    assert.equal(redaction.restoreJson('{"a":1}'), '{"a":1}');
  });
});

for (const isNew of [true, false]) {
  const which = isNew ? 'a new' : 'a stored';
  test(`PRIVACY-19: in ${which} conversation what a client tells beside the person’s words makes a bounded number of rows`, async (t) => {
    const fixture = await openFixture(t);
    if (!isNew) fixture.store([]);
    const redaction = fixture.open({ isNew });
    const said = Array.from({ length: TOLD_NUMBERED_MAX + 50 }, (_, index) => `said${index}@b.de`);
    const people = Array.from({ length: 600 }, (_, index) => `told${index}@b.de`);
    const [keptSaid, keptTold] = await redaction.redactTurn(said, { people, again: people.slice(0, 310), writer: 'said340@b.de' });
    if (isNew) {
      fixture.store(redaction.newRows());
      redaction.opened();
    }
    assert.equal(keptSaid.at(-1), `⟦email_${said.length}⟧`);
    assert.equal(keptTold.people[TOLD_NUMBERED_MAX - 1], `⟦email_${said.length + TOLD_NUMBERED_MAX}⟧`);
    assert.deepEqual(new Set(keptTold.people.slice(TOLD_NUMBERED_MAX)), new Set(['⟦email⟧']));
    assert.deepEqual([keptTold.again, keptTold.writer], [keptTold.people.slice(0, 310), '⟦email_341⟧']);
    const rows = () => countPlaceholders(fixture.storage.organisation(fixture.organisationId), CONVERSATION);
    assert.equal(rows(), said.length + TOLD_NUMBERED_MAX);
    assert.deepEqual(fixture.open().restore(keptSaid), said);
    // Told again at each turn, it makes no more of them.
    const [, toldAgain] = await fixture.open().redactTurn('hello', { people });
    assert.deepEqual(toldAgain.people, keptTold.people);
    assert.equal(rows(), said.length + TOLD_NUMBERED_MAX);
  });
}

describe('Redaction of a stored conversation', () => {
  test('PRIVACY-7: new values are stored before they are passed on, known ones answer at once', async (t) => {
    const fixture = await openFixture(t);
    fixture.store([]);
    const redaction = fixture.open();
    const first = redaction.redact('a@b.de');
    assert.ok(first instanceof Promise);
    assert.equal(await first, '⟦email_1⟧');
    assert.equal(redaction.redact('again a@b.de'), 'again ⟦email_1⟧');
    assert.equal(fixture.open().redact('again a@b.de'), 'again ⟦email_1⟧');
  });

  test('PRIVACY-7: two that meet the same value agree on its number, two that meet different ones get different numbers', async (t) => {
    const fixture = await openFixture(t);
    fixture.store([]);
    const [one, other] = [fixture.open(), fixture.open()];
    assert.deepEqual(await Promise.all([one.redact('a@b.de'), other.redact('a@b.de')]), ['⟦email_1⟧', '⟦email_1⟧']);
    const kept = await Promise.all([one.redact('c@d.de'), other.redact('e@f.de'), one.redact('g@h.de c@d.de')]);
    assert.equal(new Set(kept.join(' ').split(' ')).size, 3);
    assert.deepEqual(fixture.open().restore(kept), ['c@d.de', 'e@f.de', 'g@h.de c@d.de']);
  });

  test('PRIVACY-9: a reader sees what others stored meanwhile, in text and in JSON; what a model made up stays', async (t) => {
    const fixture = await openFixture(t);
    fixture.store([]);
    const { storage, organisationId } = fixture;
    const running = fixture.open();
    const reader = redactionOf(storage, organisationId, { id: CONVERSATION, placeholders: 0 });
    assert.equal(reader.restore('⟦email_1⟧'), '⟦email_1⟧');
    await running.redact('a@b.de');
    assert.equal(reader.restoreJson('data: {"text":"⟦email_1⟧ ⟦email_2⟧"}\n\n'), 'data: {"text":"a@b.de ⟦email_2⟧"}\n\n');
    await fixture.open().redact('c@d.de');
    assert.deepEqual(reader.restore({ list: ['⟦email_2⟧'] }), { list: ['c@d.de'] });
    assert.equal(running.restore('⟦email_2⟧ ⟦email_3⟧'), 'c@d.de ⟦email_3⟧');
  });

  test('FEEDBACK-2: a reason uses what is known and gives new values no number', async (t) => {
    const fixture = await openFixture(t);
    fixture.store([]);
    await fixture.open().redact('a@b.de');
    assert.equal(fixture.open().redactKnown('a@b.de and c@d.de, ⟦email_1⟧'), '⟦email_1⟧ and ⟦email⟧, ⟦text⟧');
    assert.equal(countPlaceholders(fixture.storage.organisation(fixture.organisationId), CONVERSATION), 1);
  });

  test('PRIVACY-10: the person’s own ⟦email_1⟧ stays what it is, whatever the model does with it', async (t) => {
    const fixture = await openFixture(t);
    fixture.store([]);
    const redaction = fixture.open();
    const kept = await redaction.redact('I typed ⟦email_1⟧, my address is a@b.de');
    assert.equal(kept, 'I typed ⟦text_1⟧, my address is ⟦email_1⟧');
    assert.equal(redaction.restore(kept), 'I typed ⟦email_1⟧, my address is a@b.de');
  });

  test('PRIVACY-7: pages of values all come back, whatever is in memory by then', async (t) => {
    const fixture = await openFixture(t);
    fixture.store([]);
    const pages = Array.from({ length: 3 }, (_, page) => Array.from({ length: 900 }, (_each, index) => `a${page}.${index}@b.de`));
    const running = fixture.open();
    const kept: string[][] = [];
    for (const page of pages) kept.push(await running.redact(page));
    assert.equal(kept[2]?.at(-1), '⟦email_2700⟧');
    assert.equal(countPlaceholders(fixture.storage.organisation(fixture.organisationId), CONVERSATION), 2_700);
    for (const reader of [running, fixture.open()]) {
      assert.deepEqual(reader.restore(kept), pages);
      assert.equal(reader.restoreJson(JSON.stringify(kept)), JSON.stringify(pages));
    }
    // Most are not in memory, and more than are looked for at once: each keeps its number.
    assert.deepEqual(await fixture.open().redact(pages), kept);
    assert.equal(await running.redact('new@b.de a0.0@b.de'), '⟦email_2701⟧ ⟦email_1⟧');
    assert.equal(fixture.open().redactKnown('a1.0@b.de, nobody@b.de'), '⟦email_901⟧, ⟦email⟧');
  });

  test('PRIVACY-7: a new conversation may begin with pages of values', async (t) => {
    const fixture = await openFixture(t);
    const redaction = fixture.open({ isNew: true });
    const page = Array.from({ length: 3_000 }, (_, index) => `a${index}@b.de`);
    const kept = await redaction.redact(page);
    assert.deepEqual(await redaction.redact(page), kept);
    fixture.store(redaction.newRows());
    redaction.opened();
    assert.deepEqual(redaction.restore(kept), page);
    assert.deepEqual(fixture.open().restore(kept), page);
  });

  test('PRIVACY-5: in what the model wrote a placeholder is one, and what it wrote itself becomes one', async (t) => {
    const fixture = await openFixture(t);
    fixture.store([]);
    const redaction = fixture.open();
    await redaction.redact('a@b.de');
    const kept = await redaction.redactOwn({ md: 'To ⟦email_1⟧: call 0171 2345678 or a@b.de. ⟦email_9⟧' });
    assert.deepEqual(kept, { md: 'To ⟦email_1⟧: call ⟦phone_1⟧ or ⟦email_1⟧. ⟦email_9⟧' });
    assert.deepEqual(fixture.open().restore(kept), { md: 'To a@b.de: call 0171 2345678 or a@b.de. ⟦email_9⟧' });
  });

  test('PRIVACY-7: what cannot be stored is not passed on', async (t) => {
    const fixture = await openFixture(t);
    fixture.store([]);
    const write = () => Promise.reject(new Error('full disk'));
    const redaction = fixture.open({ storage: { vault: fixture.storage.vault, organisation: fixture.storage.organisation, write } });
    await assert.rejects(async () => redaction.redact('a@b.de'), /^Error: full disk$/);
  });
});

test('PRIVACY-8: no value is in the files, nor in anything printed of what holds it', async (t) => {
  const fixture = await openFixture(t);
  const redaction = fixture.open({ isNew: true });
  redaction.redact('first.person@example.com');
  fixture.store(redaction.newRows());
  redaction.opened();
  const told = ['second.person@example.com', '4111 1111 1111 1111', 'DE89370400440532013000', '+49 30 901820'];
  await redaction.redact(told);
  assert.doesNotMatch(inspect(redaction, { depth: 9 }), /person@example/);
  const dir = fixture.storage.layout.organisation(fixture.organisationId);
  const folder = join(dir, '..');
  const files = readdirSync(folder).filter((name) => join(folder, name).startsWith(dir));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
  assert.ok(bytes.includes(CONVERSATION) && bytes.includes('phone'));
  for (const value of ['first.person@example.com', ...told]) assert.equal(bytes.includes(value), false, value);
});
