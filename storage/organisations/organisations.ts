/**
 * `control.sqlite`: organisations, which organisation an app belongs to, and publishable keys.
 *
 * An app spans two files. It exists exactly when its organisation's file has its row; the directory and the keys here only say where to
 * look. So they are written first when an app is created and removed last when it is deleted. A crash in between leaves an entry without
 * an app, which every reader takes for "no such app", and no slug is held.
 */
import { randomBytes } from 'node:crypto';
import type { AutoTopUp, Member } from '../../protocol/console/organisations.ts';
import { Refusal } from '../../protocol/errors.ts';
import { isPlanName, type PlanName } from '../../protocol/plans.ts';
import { transactions as purchaseTransactions } from '../billing/credit-purchases.ts';
import { columns, countRows, insert, integer, json, orNull, type RowOf, readIds, readValue, readValues, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { transactions as installation, readInstallation } from './installation.ts';

/** What a key opens: live traffic, or sandbox conversations that are never billed. */
export type Channel = 'live' | 'sandbox';

const organisationRow = columns({
  id: text,
  name: text,
  plan: text,
  members: json<readonly Member[]>(),
  autoTopUp: json<AutoTopUp>(),
  createdAtMs: integer,
});

export interface OrganisationRecord extends RowOf<typeof organisationRow> {
  readonly plan: PlanName;
}

const keyRow = columns({
  keyId: text.from('id'),
  token: text,
  appId: text,
  organisationId: text,
  channel: text.as<Channel>(),
  createdAtMs: integer,
  revokedAtMs: orNull(integer),
});

export type KeyRecord = RowOf<typeof keyRow>;
export type Key = Omit<KeyRecord, 'token' | 'createdAtMs'>;

/** A plan and the first month (`2026-11`) it counts for, oldest first. */
export interface PlanPeriod {
  readonly from: string;
  readonly plan: PlanName;
}

/** One organisation's apps are listed in one answer. */
export const APPS_PER_ORGANISATION_MAX = 500;
/** Working keys of an app: a few for each store and staging build. */
export const KEYS_PER_APP_MAX = 40;
/** Ten years of monthly changes. */
const PLAN_PERIODS_MAX = 120;

/** RFC 4648 base32 in lower case: 15 random bytes are exactly 24 characters (120 bits). */
const KEY_ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const KEY_CHARS = 24;

/** A new publishable key, `rd_pk_live_…` or `rd_pk_test_…` (KEY-2). */
export function mintKeyToken(channel: Channel): string {
  // 256 is a multiple of 32, so taking five bits of each byte is fair.
  const random = Array.from(randomBytes(KEY_CHARS), (byte) => KEY_ALPHABET[byte & 31]).join('');
  return `rd_pk_${channel === 'live' ? 'live' : 'test'}_${random}`;
}

function organisationOf(row: RowOf<typeof organisationRow>): OrganisationRecord {
  const { id, plan } = row;
  if (!isPlanName(plan)) throw new Error(`organisation ${id} is on a plan this program does not know: ${plan}`);
  return { ...row, plan };
}

export function readOrganisation(control: Connection, id: string): OrganisationRecord | undefined {
  const row = organisationRow.get(control, 'FROM organisations WHERE id = :id', { id });
  return row === undefined ? undefined : organisationOf(row);
}

/** SQL that excludes organisations that moved away or have not arrived yet, whose files take no writes (CELL-15); `id`: the column of theirs. */
export function livesHere(id: string): string {
  return `NOT EXISTS (SELECT 1 FROM moves WHERE moves.organisation_id = ${id} AND step IN ('switched', 'done'))
  AND NOT EXISTS (SELECT 1 FROM arrivals WHERE arrivals.organisation_id = ${id} AND step <> 'unsealed')`;
}

const LIVES_HERE = livesHere('organisations.id');

export function isHere(control: Connection, organisationId: string): boolean {
  return control.statement(`SELECT 1 AS found WHERE ${livesHere(':organisationId')}`).get({ organisationId }) !== undefined;
}

/** Oldest first, after the id `after`; those whose name holds `named`, in either case of its Latin letters. */
export function listOrganisations(control: Connection, after: string, limit: number, named = ''): OrganisationRecord[] {
  const from = `FROM organisations WHERE id > :after AND ${LIVES_HERE} AND instr(lower(name), lower(:named)) > 0 ORDER BY id LIMIT :limit`;
  return organisationRow.all(control, from, { after, limit, named }).map(organisationOf);
}

const ORGANISATIONS_PER_PAGE = 100;

export function* organisationIds(control: Connection): Generator<string> {
  const from = `FROM organisations WHERE id > :after AND ${LIVES_HERE} ORDER BY id LIMIT ${ORGANISATIONS_PER_PAGE}`;
  for (let page = readIds(control, from, { after: '' }); page.length > 0; ) {
    yield* page;
    page = readIds(control, from, { after: page.at(-1) ?? '' });
  }
}

export function readPlanPeriods(control: Connection, organisationId: string): PlanPeriod[] {
  return JSON.parse(readInstallation(control, `plans:${organisationId}`) ?? '[]') as PlanPeriod[];
}

export function organisationOfApp(control: Connection, appId: string): string | undefined {
  return readValue(control, text, 'SELECT organisation_id FROM app_directory WHERE app_id = :appId', { appId });
}

export function appsOfOrganisation(control: Connection, organisationId: string): ReadonlySet<string> {
  return new Set(readValues(control, text, 'SELECT app_id FROM app_directory WHERE organisation_id = :organisationId', { organisationId }));
}

/** The key with this token, also when it was revoked; undefined when there never was one. */
export function readKey(control: Connection, token: string): Key | undefined {
  return keyRow.get(control, 'FROM app_keys WHERE token = :token', { token });
}

export function listKeys(control: Connection, appId: string): KeyRecord[] {
  return keyRow.all(control, 'FROM app_keys WHERE app_id = :appId AND revoked_at_ms IS NULL ORDER BY created_at_ms, channel, id', {
    appId,
  });
}

/** Notes the plan from this month on; a second change within a month replaces the first. */
function recordPlan(db: Connection, organisationId: string, plan: PlanName, nowMs: number): void {
  const from = new Date(nowMs).toISOString().slice(0, 7);
  const periods = [...readPlanPeriods(db, organisationId).filter((period) => period.from !== from), { from, plan }];
  const value = JSON.stringify(periods.slice(-PLAN_PERIODS_MAX));
  installation.noteInstallation(db, { name: `plans:${organisationId}`, value });
}

interface NewKey {
  readonly keyId: string;
  readonly token: string;
  readonly channel: Channel;
}

function insertKey(db: Connection, appId: string, organisationId: string, { keyId: id, ...key }: NewKey, createdAtMs: number): void {
  insert(db, 'app_keys', { id, ...key, appId, organisationId, createdAtMs });
}

function createOrganisation(
  db: Connection,
  { nowMs, ...fields }: { id: string; name: string; plan: PlanName; members: readonly Member[]; autoTopUp: AutoTopUp; nowMs: number },
): OrganisationRecord {
  const row = { ...fields, createdAtMs: nowMs };
  insert(db, 'organisations', row);
  recordPlan(db, row.id, row.plan, nowMs);
  return row;
}

function patchOrganisation(
  db: Connection,
  input: {
    id: string;
    name?: string | undefined;
    plan?: PlanName | undefined;
    members?: readonly Member[] | undefined;
    autoTopUp?: AutoTopUp | undefined;
    nowMs: number;
  },
): OrganisationRecord {
  const before = readOrganisation(db, input.id);
  if (before === undefined) throw new Refusal('not_found', `There is no organisation ${input.id}.`);
  const after: OrganisationRecord = {
    ...before,
    name: input.name ?? before.name,
    plan: input.plan ?? before.plan,
    members: input.members ?? before.members,
    autoTopUp: input.autoTopUp ?? before.autoTopUp,
  };
  const { id, name, plan } = after;
  const documents = { members: JSON.stringify(after.members), autoTopUp: JSON.stringify(after.autoTopUp) };
  const update = 'UPDATE organisations SET name = :name, plan = :plan, members = :members, auto_top_up = :autoTopUp WHERE id = :id';
  db.statement(update).run({ id, name, plan, ...documents });
  if (after.plan !== before.plan) recordPlan(db, after.id, after.plan, input.nowMs);
  return after;
}

/** Enters an app and its first keys. @throws Refusal conflict when the organisation has as many apps as it may. */
function registerApp(db: Connection, input: { organisationId: string; appId: string; keys: readonly NewKey[]; nowMs: number }): void {
  const { organisationId, appId, nowMs } = input;
  if (countRows(db, 'FROM app_directory WHERE organisation_id = :organisationId', { organisationId }) >= APPS_PER_ORGANISATION_MAX) {
    throw new Refusal('conflict', `An organisation has at most ${APPS_PER_ORGANISATION_MAX} apps; delete one first.`);
  }
  insert(db, 'app_directory', { appId, organisationId, createdAtMs: nowMs });
  for (const key of input.keys) insertKey(db, appId, organisationId, key, nowMs);
}

function unregisterApp(db: Connection, input: { appId: string }): void {
  db.statement('DELETE FROM app_directory WHERE app_id = :appId').run(input);
}

function addKey(db: Connection, input: { organisationId: string; appId: string; key: NewKey; nowMs: number }): void {
  if (listKeys(db, input.appId).length >= KEYS_PER_APP_MAX) {
    throw new Refusal('conflict', `An app has at most ${KEYS_PER_APP_MAX} keys; delete one first.`);
  }
  insertKey(db, input.appId, input.organisationId, input.key, input.nowMs);
}

/** The key stops working with this commit; false when the app has no working key of this id. */
function revokeKey(db: Connection, input: { appId: string; keyId: string; nowMs: number }): boolean {
  const update = 'UPDATE app_keys SET revoked_at_ms = :nowMs WHERE id = :keyId AND app_id = :appId AND revoked_at_ms IS NULL';
  return db.statement(update).run(input).changes === 1;
}

/** Notes that the organisation's file was created or has arrived, so that it is never created again. */
export function noteOrganisationFile(db: Connection, { organisationId, nowMs }: { organisationId: string; nowMs: number }): void {
  insert(db, 'organisation_files', { organisationId, notedAtMs: nowMs }, 'ON CONFLICT (organisation_id) DO NOTHING');
}

export const transactions = {
  createOrganisation,
  noteOrganisationFile,
  patchOrganisation,
  registerApp,
  unregisterApp,
  addKey,
  revokeKey,
  ...purchaseTransactions,
};
