import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { DEFAULT_APP_SETTINGS, patchSettings, settingsFromWire, settingsToWire } from '../../../protocol/console/app-settings.ts';
import { createAppBody, deriveSlug, patchAppBody, SLUG_MAX_CHARS } from '../../../protocol/console/apps.ts';
import { createOrganisationBody, creditBody, patchOrganisationBody } from '../../../protocol/console/organisations.ts';
import { explain } from '../../../protocol/schema/issues.ts';

function pathRefused(schema: v.GenericSchema, body: unknown): string | undefined {
  const result = v.safeParse(schema, body);
  return result.success ? undefined : explain(result.issues)[0]?.path;
}

test('CONSOLE-6: unknown fields are refused by name', () => {
  assert.equal(pathRefused(patchAppBody, { messages_per_minite: 5 }), 'messages_per_minite');
  assert.equal(pathRefused(patchAppBody, { intake: { islive: true } }), 'intake.islive');
  assert.equal(pathRefused(createOrganisationBody, { name: 'Acme', tier: 'free' }), 'tier');
});

test('CONSOLE-6: values out of bounds are refused by name', () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ messages_per_minute: 0 }, 'messages_per_minute'],
    [{ messages_per_day: 1.5 }, 'messages_per_day'],
    [{ daily_model_budget_usd: 0 }, 'daily_model_budget_usd'],
    [{ confirmation_ttl_s: 5 }, 'confirmation_ttl_s'],
    [{ hard_cap: 'yes' }, 'hard_cap'],
    [{ allowed_domains: ['https://a.example'] }, 'allowed_domains[0]'],
    [{ allowed_domains: ['a.example', 'a.example:8080'] }, 'allowed_domains[1]'],
    [{ allowed_domains: ['a.*.example'] }, 'allowed_domains[0]'],
    [{ allowed_domains: ['*'] }, 'allowed_domains[0]'],
    [{ media_hosts: ['https://cdn.example'] }, 'media_hosts[0]'],
    [{ media_hosts: ['*'] }, 'media_hosts[0]'],
    [{ min_sdk: { web: 'latest' } }, 'min_sdk.web'],
    [{ slug: 'Not A Slug' }, 'slug'],
    [{ intake: { links: ['javascript:alert(1)'] } }, 'intake.links[0]'],
  ];
  for (const [body, path] of cases) assert.equal(pathRefused(patchAppBody, body), path);
  const domains = v.parse(patchAppBody, { allowed_domains: ['App.Example.com', '*.example.com', 'localhost'] }).allowed_domains;
  assert.deepEqual(domains, ['app.example.com', '*.example.com', 'localhost']);
});

test('CONSOLE-9: what travels comes back the same, and a patch changes what it names only', () => {
  const patch = fc.record(
    {
      media_hosts: fc.constantFrom(null, [], ['cdn.example', '*.cdn.example']),
      require_identity: fc.boolean(),
      messages_per_minute: fc.integer({ min: 1, max: 100 }),
      daily_model_budget_usd: fc.option(fc.integer({ min: 1, max: 50 })),
      suspended: fc.boolean(),
      min_sdk: fc.constantFrom({}, { web: '0.25.0' }),
      intake: fc.record({ is_live: fc.boolean(), description: fc.string() }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(patch, (given) => {
      const parsed = v.parse(patchAppBody, given);
      const settings = patchSettings(DEFAULT_APP_SETTINGS, parsed);
      assert.deepEqual(settingsFromWire(settingsToWire(settings)), settings);
      const wire: Record<string, unknown> = settingsToWire(settings);
      const defaults: Record<string, unknown> = settingsToWire(DEFAULT_APP_SETTINGS);
      for (const name of Object.keys(wire)) {
        const named = Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : defaults[name];
        const expected = name === 'intake' ? { ...(defaults.intake as object), ...given.intake } : named;
        assert.deepEqual(wire[name], expected, name);
      }
    }),
  );
});

test('CONSOLE-11: a slug derived from any name is a slug', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 50, maxLength: 200 })), (name) => {
      const slug = deriveSlug(name);
      assert.ok(slug.length <= SLUG_MAX_CHARS);
      assert.equal(pathRefused(createAppBody, { name: 'x', slug }), undefined, slug);
    }),
  );
});

test('CONSOLE-8: defaults, members and purchases of at least 10 USD', () => {
  assert.deepEqual(v.parse(createOrganisationBody, { name: 'Acme' }), {
    name: 'Acme',
    plan: 'free',
    members: [],
    auto_top_up: { enabled: false, amount_usd: 10 },
  });
  assert.equal(pathRefused(createOrganisationBody, { name: 'Acme', plan: 'gold' }), 'plan');
  assert.equal(pathRefused(createOrganisationBody, { name: ' ' }), 'name');
  assert.equal(pathRefused(createOrganisationBody, { name: 'Acme', members: [{ email: 'nobody' }] }), 'members[0].email');
  const twice = [{ email: 'a@b.example' }, { email: 'A@b.example' }];
  assert.equal(pathRefused(createOrganisationBody, { name: 'Acme', members: twice }), 'members');
  assert.equal(pathRefused(creditBody, { amount_usd: 9.99 }), 'amount_usd');
  assert.equal(pathRefused(creditBody, { amount_usd: 10 }), undefined);
});

test('CONSOLE-8: whole cents, 10 USD at least, and a Stripe customer by its id', () => {
  const refused = (more: Record<string, unknown>) => pathRefused(patchOrganisationBody, { auto_top_up: { enabled: true, ...more } });
  for (const amount_usd of [10, 10.01, 19.99, 0.07 + 25]) assert.equal(refused({ amount_usd }), undefined, String(amount_usd));
  for (const amount_usd of [9.99, 10.001, 10.005]) assert.equal(refused({ amount_usd }), 'auto_top_up.amount_usd', String(amount_usd));
  assert.equal(refused({ stripe_customer: 'cus_N1a2b3' }), undefined);
  for (const stripe_customer of ['', 'cus_', 'pm_1', 'cus_1/../2', null]) {
    assert.equal(refused({ stripe_customer }), 'auto_top_up.stripe_customer', String(stripe_customer));
  }
});
