/** An app and its organisation as the interface answers them, and its state in words. */

export interface Intake {
  readonly links: readonly string[];
  readonly description: string;
  readonly is_live: boolean;
}

export interface App {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly slug: string;
  readonly platform_hint: string;
  readonly live: boolean;
  readonly live_at: string | null;
  readonly allowed_domains: readonly string[];
  readonly media_hosts: readonly string[] | null;
  readonly require_identity: boolean;
  readonly record_confirmations: boolean;
  readonly messages_per_minute: number;
  readonly messages_per_day: number;
  readonly messages_per_minute_per_address: number;
  readonly messages_per_day_per_address: number | null;
  readonly daily_model_budget_usd: number | null;
  readonly hard_cap: boolean;
  readonly suspended: boolean;
  readonly auto_go_live: boolean;
  readonly publish_on_go_live: boolean;
  readonly confirmation_ttl_s: number;
  readonly min_sdk: Readonly<Record<string, string>>;
  readonly intake: Intake;
  readonly persona_version: number;
  readonly published_version: number | null;
  readonly handshake_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Organisation {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
}

/** What the interface calls the app. */
export function appPath(id: string): string {
  return `/apps/${encodeURIComponent(id)}`;
}

/** The address of an app's page, or of one of its sections. */
export function appAddress(id: string, section = ''): string {
  return `/console/apps/${encodeURIComponent(id)}${section === '' ? '' : `/${section}`}`;
}

export function organisationAddress(id: string): string {
  return `/console/orgs/${encodeURIComponent(id)}`;
}

export interface StateWords {
  readonly word: string;
  readonly signal: 'ok' | 'wait' | 'bad';
}

/** What an app is now, in words and as a signal. */
export function stateOf({ live, suspended }: Pick<App, 'live' | 'suspended'>): StateWords {
  if (suspended) return { word: 'suspended', signal: 'bad' };
  return live ? { word: 'live', signal: 'ok' } : { word: 'not live yet', signal: 'wait' };
}
