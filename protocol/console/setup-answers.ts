/** What the console interface answers of how an app is set up: returned by its routes, and read by its pages. */

export interface Step {
  readonly id: string;
  readonly label: string;
  readonly state: 'pending' | 'active' | 'done' | 'failed' | 'skipped';
  /** Who may close it. */
  readonly closed_by: 'server' | 'agent' | 'either';
}

export type CheckKey = 'app' | 'knowledge' | 'screens' | 'smoke' | 'domains' | 'addresses' | 'answered' | 'models';

export interface SetupSession {
  readonly app_id: string;
  readonly id: string;
  readonly kind: 'setup' | 'sync';
  readonly status: 'open' | 'running' | 'completed' | 'failed' | 'cancelled' | 'expired';
  readonly agent: { readonly tool: string | null; readonly model: string | null; readonly os: string | null } | null;
  readonly outcome: Readonly<Record<string, unknown>> | null;
  readonly opened_at: string;
  readonly expires_at: string;
  readonly closed_at: string | null;
  readonly steps: readonly Step[];
}

export interface Line {
  readonly id: number;
  readonly step: string;
  readonly status: string;
  readonly title: string | null;
  readonly detail: string | null;
  readonly data: unknown;
  readonly origin: 'agent' | 'server';
  readonly at: string;
}

/** The command that fetches the setup file, as it is answered once. */
export interface Command {
  readonly code: string;
  readonly file_url: string;
  readonly command: string;
  readonly code_expires_at: string;
}

export interface OpenedSession extends Command {
  readonly session: SetupSession;
}

export interface Proposal {
  readonly id: string;
  readonly app_id: string;
  readonly session_id: string;
  readonly kind: 'appearance' | 'logo' | 'experience' | 'knowledge' | 'actions' | 'screens';
  readonly summary: string;
  readonly bytes: number;
  readonly status: 'pending' | 'approved' | 'rejected' | 'replaced';
  readonly reason: string | null;
  readonly replaced_by: string | null;
  readonly created_at: string;
  readonly decided_at: string | null;
}

export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ItemChange {
  readonly name: string;
  readonly change: 'added' | 'updated' | 'archived';
  readonly fields: readonly FieldChange[];
}

export interface ContrastChange {
  readonly part: 'theme' | 'themeDark';
  readonly subject: string;
  readonly minimum: number;
  readonly before: number | null;
  readonly after: number;
}

export interface Comparison {
  readonly items: readonly ItemChange[];
  /** Empty but for a look whose colours differ. */
  readonly contrast: readonly ContrastChange[];
  /** What it would replace is not what it was: approving is refused (PROPOSAL-3). */
  readonly outdated: boolean;
  /** Other waiting proposals about the same: approving this one makes them out of date. */
  readonly overlaps: readonly string[];
}

export interface WholeProposal extends Proposal {
  readonly write: Readonly<Record<string, unknown>>;
  /** Null once it is decided. */
  readonly comparison: Comparison | null;
}

export interface Check {
  readonly key: CheckKey;
  readonly label: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface AppStatus {
  readonly facts: {
    readonly manifest: { readonly sdkVersion: string; readonly actions: readonly string[]; readonly routes: readonly string[] } | null;
    readonly httpActions: { readonly enabled: number; readonly needsKey: number };
    readonly knowledge: { readonly indexed: number; readonly failed: number };
    readonly declaredScreens: number;
  };
  readonly go_live: readonly Check[];
  readonly release: {
    readonly auto_go_live: boolean;
    readonly publish_on_go_live: boolean;
    readonly published_version: number | null;
    /** The drafts are not what is published. */
    readonly unpublished: boolean;
    /** What people need beside `go_live`. */
    readonly reach: readonly Check[];
    readonly obstacles: readonly string[];
    readonly note: string;
  };
  /** Null: no agent has set the app up. */
  readonly steps: readonly Step[] | null;
}

export interface SmokeAnswer {
  readonly question: string;
  readonly from: 'suggestion' | 'knowledge' | 'action' | 'general';
  readonly answer: string;
  readonly grounded: boolean;
  readonly actionBacked: boolean;
  readonly ok: boolean;
  readonly actions: readonly string[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface SmokeRun {
  readonly id: string;
  readonly passed: boolean;
  readonly createdAt: string;
  readonly platformFailure: boolean;
  readonly results: readonly SmokeAnswer[];
}

export interface DeclaredParam {
  readonly name: string;
  readonly description: string;
  readonly type: 'string' | 'number' | 'boolean' | 'array';
  readonly items?: 'string' | 'number' | 'boolean' | undefined;
  readonly required: boolean;
  readonly enum?: readonly (string | number | boolean)[] | undefined;
  readonly example?: unknown;
}

export interface DeclaredAction {
  readonly updated_at: string;
  readonly created_at: string;
  readonly reason: string | null;
  readonly id: string;
  readonly external_key: string;
  readonly name: string;
  readonly description: string;
  readonly method: string;
  readonly risk: string;
  readonly auth: string;
  readonly params: readonly DeclaredParam[];
  readonly needs_key: { readonly kind: string; readonly name?: string | undefined; readonly note?: string | undefined } | null;
  readonly host: string;
  readonly has_key: boolean;
  readonly enabled: boolean;
  readonly origin: string;
  readonly archived_at: string | null;
}

export interface DeclaredScreen {
  readonly updated_at: string;
  readonly created_at: string;
  readonly reason: string | null;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly planned: boolean;
  readonly origin: string;
  readonly archived_at: string | null;
}

export interface Tried {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | null;
  } | null;
  readonly status: number | null;
  readonly took_ms: number;
  readonly outcome: 'succeeded' | 'failed' | 'unknown';
  readonly result: string | null;
  readonly error: string | null;
}

export type SourceStatus = 'pending' | 'indexing' | 'indexed' | 'failed' | 'archived';

export interface Source {
  readonly created_at: string;
  readonly archived_at: string | null;
  readonly id: string;
  readonly external_key: string;
  readonly kind: 'text' | 'url';
  readonly title: string;
  readonly uri: string | null;
  readonly status: SourceStatus;
  readonly error: string | null;
  readonly chunks: number;
  readonly origin: string;
  readonly reason: string | null;
  readonly updated_at: string;
}
