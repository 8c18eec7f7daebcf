/** The answer of GET /v1/apps/config (CONFIG-1). */

export interface AppConfigReply {
  /** `published` for a live key, `draft` for a test key. */
  readonly channel: 'published' | 'draft';
  /** Null when nothing was published. */
  readonly version: number | null;
  /** RFC 3339 with milliseconds; informational, it does not decide the ETag. */
  readonly updated_at: string | null;
  /** While false, clients hide the launcher. */
  readonly available: boolean;
  /** The app serves signed-in people only (PERSON-5): without a signature of one, clients hide the launcher. */
  readonly require_identity: boolean;
  /** `theme`, `themeDark`, `copilot`; `{}`: keep what the code passed to init. */
  readonly config: object;
}
