/** Two cells in one process, each with its own data directory, and an organisation that moves between them over HTTP. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { CellClient } from '../../../actors/cells/cell-client.ts';
import { OrganisationMoves } from '../../../actors/cells/move.ts';
import type { MoveTimes } from '../../../actors/cells/move-drive.ts';
import { MoveReceiver } from '../../../actors/cells/move-receiver.ts';
import { arrivalRoutes } from '../../../gateway/cells/arrivals.ts';
import type { Services } from '../../../gateway/services.ts';
import { mintId } from '../../../protocol/ids.ts';
import { createApp } from '../../../storage/apps/app-creation.ts';
import type { DataLayout } from '../../../storage/data-layout.ts';
import { migrate } from '../../../storage/migrations/migrate.ts';
import { organisationMigrations } from '../../../storage/migrations/organisation.ts';
import { copyOrganisation } from '../../../storage/moving/move-copy.ts';
import { type Jobs, MoveFiles } from '../../../storage/moving/move-files.ts';
import { emptyOrganisation, placeOrganisation } from '../../../storage/moving/move-place.ts';
import { type MoveStep, readMove } from '../../../storage/moving/moves.ts';
import { readSeal } from '../../../storage/moving/seal.ts';
import { openReader, openWriter } from '../../../storage/sqlite/database.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { writeUploadFile } from '../../../storage/uploads/upload-files.ts';
import { serve } from '../../gateway/test-server.ts';
import { storeTurn } from '../../storage/conversations/stored-turns.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

export const log = pino({ level: process.env.MOVE_LOG ?? 'silent' });

/** Short ones: nothing here is slow but what a test makes slow. */
const TIMES: MoveTimes = { beatMs: 20, abandonedMs: 0, lookMs: 5, quietMs: 0, retryMs: [1, 4], giveUpMs: 20_000 };

/** Wraps what a process does to the world: lets a test end it there. */
export type Wrap = <T extends object>(world: T, operations: readonly string[]) => T;

const asIs: Wrap = (world) => world;

export interface TestCell {
  readonly id: string;
  readonly storage: Storage;
  readonly client: CellClient;
  /** What other cells are answered by; another one after a restart. */
  arriving: MoveReceiver;
  readonly arrived: string[];
  readonly left: string[];
  readonly stayed: string[];
  /** Another node's worth of what sends organisations away; closed with the test. */
  node(options?: {
    readonly times?: Partial<MoveTimes>;
    readonly wrap?: Wrap;
    readonly isAlive?: (node: string) => boolean;
  }): OrganisationMoves;
  /** Another node's worth of what receives them. */
  receive(wrap?: Wrap): MoveReceiver;
}

export const STORAGE_OPERATIONS = ['write', 'writeControl'];
export const FILE_OPERATIONS = ['copy', 'place', 'empty', 'clear'];

/** The work on files without a thread for each piece, which a loaded machine takes long to start. */
class FilesHere extends MoveFiles {
  readonly #layout: DataLayout;

  constructor({ layout, vault }: Storage) {
    super(layout, vault);
    this.#layout = layout;
  }

  protected override async run<Job extends keyof Jobs>(job: Job, input: Jobs[Job]['input']): Promise<Jobs[Job]['output']> {
    const jobs = { copy: copyOrganisation, place: placeOrganisation, empty: emptyOrganisation };
    return (jobs[job] as unknown as (layout: DataLayout, given: typeof input) => Jobs[Job]['output'])(this.#layout, input);
  }
}

export interface CellOptions {
  readonly masterKey: string;
  /** With threads for the work on files, as the program has them. */
  readonly threads?: boolean;
}

export async function openCell(t: TestContext, id: string, { masterKey, threads = false }: CellOptions): Promise<TestCell> {
  const storage = openStorage({ dataDir: temporaryDir(t), masterKey, shared: true, onFatal: () => {} });
  const files = threads ? new MoveFiles(storage.layout, storage.vault) : new FilesHere(storage);
  const client = new CellClient(id, storage);
  const opened: OrganisationMoves[] = [];
  const common = { storage, files, cell: id, log, nowMs: Date.now };
  const cell: TestCell = {
    id,
    storage,
    client,
    arriving: undefined as unknown as MoveReceiver,
    arrived: [],
    left: [],
    stayed: [],
    node({ times = {}, wrap = asIs, isAlive = () => false } = {}) {
      const moves = new OrganisationMoves({
        ...common,
        storage: wrap(storage, STORAGE_OPERATIONS),
        files: wrap(files, FILE_OPERATIONS),
        client: wrap(client, ['call']),
        isAlive: async (node) => isAlive(node),
        onLeft: (organisationId) => cell.left.push(organisationId),
        onStayed: (organisationId) => cell.stayed.push(organisationId),
        times: { ...TIMES, ...times },
      });
      opened.push(moves);
      return moves;
    },
    receive(wrap = asIs) {
      const onArrived = (organisationId: string) => cell.arrived.push(organisationId);
      return new MoveReceiver({ ...common, storage: wrap(storage, STORAGE_OPERATIONS), files: wrap(files, FILE_OPERATIONS), onArrived });
    },
  };
  cell.arriving = cell.receive();
  const services = {
    storage,
    log,
    cells: { client, self: { id, url: '' } },
    moves: {
      leaving: { cell: id, read: (organisationId: string) => readMove(storage.control, organisationId) },
      get arriving() {
        return cell.arriving;
      },
    },
  } as unknown as Partial<Services>;
  const { base } = await serve(t, arrivalRoutes, services);
  await storage.writeControl('seeCells', { cells: [{ cell: id, url: base, seenAtMs: Date.now(), term: 1 }] });
  t.after(async () => {
    await Promise.all(opened.map((moves) => moves.close()));
    client.close();
    await storage.close();
  });
  return cell;
}

/** Lets each of the cells know the others. */
export async function introduce(...cells: readonly TestCell[]): Promise<void> {
  for (const one of cells) {
    for (const other of cells) {
      const url = other.client.url(other.id);
      if (url !== undefined)
        await one.storage.writeControl('seeCells', { cells: [{ cell: other.id, url, seenAtMs: Date.now(), term: 1 }] });
    }
  }
}

export interface MoveFixture {
  readonly a: TestCell;
  readonly b: TestCell;
  readonly organisationId: string;
  readonly appId: string;
  readonly keys: { readonly live: string; readonly test: string };
}

/** Cells `a` and `b`, and an organisation with an app on `a`. */
export async function openFixture(t: TestContext, options: { readonly threads?: boolean } = {}): Promise<MoveFixture> {
  const masterKey = randomBytes(32).toString('base64');
  const a = await openCell(t, 'a', { masterKey, ...options });
  const b = await openCell(t, 'b', { masterKey, ...options });
  await introduce(a, b);
  const nowMs = Date.now();
  const organisationId = mintId('org', nowMs);
  const autoTopUp = { enabled: false, amount_usd: 10 };
  await a.storage.writeControl('createOrganisation', { id: organisationId, name: 'Acme', plan: 'free', members: [], autoTopUp, nowMs });
  const { app, keys } = await createApp(a.storage, { organisationId, name: 'Shop', platformHint: 'web', settings: {}, nowMs });
  return { a, b, organisationId, appId: app.id, keys: { live: keys.live, test: keys.test } };
}

/** The row of an upload, acknowledged. Returns its id. */
export async function note(
  { storage }: TestCell,
  { organisationId, appId }: MoveFixture,
  id = mintId('upl', Date.now()),
  size = 1,
): Promise<string> {
  const nowMs = Date.now();
  const about = {
    channel: 'sandbox',
    // A device and an address of its own: what one may leave unused is bounded.
    deviceId: id.slice(-8).repeat(4),
    name: 'x',
    mediaType: 'text/plain',
    size,
    address: id,
    appMaxBytes: 100_000_000,
  } as const;
  const { full } = await storage.write(organisationId, 'saveUpload', { id, appId, ...about, expiresAtMs: nowMs + 3_600_000, nowMs });
  assert.equal(full, null);
  return id;
}

/** An acknowledged upload: its file, then its row. Returns its id. */
export async function upload(cell: TestCell, fixture: MoveFixture, bytes: Uint8Array): Promise<string> {
  const id = mintId('upl', Date.now());
  await writeUploadFile(cell.storage, fixture.organisationId, id, bytes);
  return note(cell, fixture, id, bytes.length);
}

/** An acknowledged row of the organisation in the control file. Returns what to look for. */
export async function issueCode({ storage }: TestCell, { organisationId, appId }: MoveFixture, text: string): Promise<string> {
  const codeHash = createHash('sha256').update(text).digest('hex');
  await storage.writeControl('issueFileCode', { sessionId: `ses_${text}`, organisationId, appId, codeHash, nowMs: Date.now() });
  return codeHash;
}

export function uploadIds({ storage }: TestCell, organisationId: string): string[] {
  return storage
    .organisation(organisationId)
    .statement('SELECT id FROM uploads ORDER BY id')
    .all()
    .map((row) => row.id as string);
}

export function codeHashes({ storage }: TestCell, organisationId: string): string[] {
  return storage.control
    .statement('SELECT code_hash FROM setup_codes WHERE organisation_id = :organisationId')
    .all({ organisationId })
    .map((row) => row.code_hash as string);
}

/** Whether the cell has a file of the organisation that takes writes, read from disk with nobody's help. */
export function takesWrites({ storage: { layout } }: TestCell, organisationId: string): boolean {
  const path = layout.organisation(organisationId);
  if (!existsSync(path)) return false;
  const db = openReader(path);
  try {
    const seal = readSeal(db);
    return seal === undefined || seal.sealedAtMs === null;
  } finally {
    db.close();
  }
}

/** Waits until the move is at one of these steps. */
export async function arriveAt(moves: OrganisationMoves, organisationId: string, ...steps: MoveStep[]): Promise<void> {
  const move = () => moves.read(organisationId);
  const hasArrived = () => steps.some((step) => step === move()?.step);
  await eventually(hasArrived, undefined, () => `the move stays at ${move()?.step}: ${move()?.error}`);
}

/** A file of the organisation that takes writes, whoever made it. */
export function makeFile({ storage: { layout } }: TestCell, organisationId: string): void {
  const db = openWriter(layout.organisation(organisationId));
  migrate(db, organisationMigrations, 'organisation');
  db.close();
}

/** A turn that has no end in its rows, of a conversation that this node owns. */
export function leaveTurnOpen({ storage: { layout } }: TestCell, { organisationId, appId }: MoveFixture, owner: string): void {
  const db = openWriter(layout.organisation(organisationId));
  const [cnv, msg, nowMs] = [mintId('cnv', Date.now()), mintId('msg', Date.now()), Date.now()];
  try {
    db.statement(
      `INSERT INTO conversations (id, app_id, channel, device_id, epoch, owner, created_at_ms, updated_at_ms)
       VALUES (:cnv, :appId, 'sandbox', '', 1, :owner, :nowMs, :nowMs)`,
    ).run({ cnv, appId, owner, nowMs });
    storeTurn(db, { appId, conversationId: cnv, turnId: cnv, state: 'answering', atMs: nowMs, endedAtMs: null, answer: msg });
  } finally {
    db.close();
  }
}
