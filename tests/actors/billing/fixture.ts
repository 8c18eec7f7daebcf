/** An organisation with members in real storage and a clock in the test's hand, for what follows from its usage. */
import type { TestContext } from 'node:test';
import pino from 'pino';
import type { AutoTopUp } from '../../../protocol/console/organisations.ts';
import { mintId } from '../../../protocol/ids.ts';
import type { PlanName } from '../../../protocol/plans.ts';
import { type CreditState, creditState } from '../../../storage/billing/usage.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

export interface BillingFixture {
  readonly storage: Storage;
  readonly organisationId: string;
  readonly log: pino.Logger;
  /** Log lines so far. */
  readonly logged: readonly string[];
  nowMs(): number;
  /** The clock is put forward. */
  pass(ms: number): void;
  /** Live spend, as if turns had been charged for it on this day. */
  spend(usd: number): void;
  credit(): CreditState;
  /** Rows of the organisation's file, as the test asks for them. */
  rows(sql: string): Record<string, unknown>[];
  patch(patch: { plan?: PlanName; members?: string[]; autoTopUp?: AutoTopUp }): Promise<void>;
}

const START_MS = Date.UTC(2026, 10, 20, 12);
/** Cents are exact in floating point only to the millionth. */
const MICRO = 1_000_000;

export async function openFixture(t: TestContext): Promise<BillingFixture> {
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const storage = openStorage({ dataDir: temporaryDir(t), masterKey: undefined, onFatal: () => {} });
  t.after(() => storage.close());
  let atMs = START_MS;
  const organisationId = mintId('org', atMs);
  const autoTopUp = { enabled: false, amount_usd: 10 };
  const members = ['ada@example.com', 'Bob@Example.com'].map((email) => ({ email, name: '' }));
  await storage.writeControl('createOrganisation', {
    id: organisationId,
    name: 'Käse & Co',
    plan: 'free',
    members,
    autoTopUp,
    nowMs: atMs,
  });
  // As the first turn does; what is spent is written past the storage.
  await storage.use(organisationId);
  const db = storage.organisation(organisationId);
  return {
    storage,
    organisationId,
    log,
    logged,
    nowMs: () => atMs,
    pass(ms) {
      atMs += ms;
    },
    spend(usd) {
      const writer = openWriter(storage.layout.organisation(organisationId));
      writer
        .statement(
          `INSERT INTO usage_days (app_id, channel, day, turns, cost_microusd) VALUES ('app_a', 'live', :day, 1, :cost)
           ON CONFLICT DO UPDATE SET cost_microusd = cost_microusd + :cost`,
        )
        .run({ day: new Date(atMs).toISOString().slice(0, 10), cost: Math.round(usd * MICRO) });
      writer.close();
    },
    credit: () => creditState(storage.control, db, organisationId, atMs),
    rows: (sql) => db.statement(sql).all({}) as Record<string, unknown>[],
    async patch({ members: emails, ...patch }) {
      const more = emails === undefined ? {} : { members: emails.map((email) => ({ email, name: '' })) };
      await storage.writeControl('patchOrganisation', { id: organisationId, ...patch, ...more, nowMs: atMs });
    },
  };
}
