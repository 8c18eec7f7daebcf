/** What the console interface answers of organisations and apps at a glance, and by the hour. */
import type { PlanName } from '../plans.ts';

/** What waits for a person at an app. */
export interface Waits {
  readonly proposals: number;
  /** Actions without the key that their server asks for. */
  readonly keys: number;
  /** Sources of knowledge that could not be read. */
  readonly sources: number;
  /** The newest setup session of an app that is not live; null else. `todos`: what it left for a person to do. */
  readonly setup: 'open' | 'ended' | null;
  readonly todos: number;
}

/** How turns of some time went: by the live key, or by the test key where the app is not live. */
export interface Counts {
  /** As the caps count them. */
  readonly turns: number;
  /** Attempts at turns that ended, and those of them that failed. */
  readonly ended: number;
  readonly failed: number;
  /** Median time from the request to the first word. */
  readonly first_word_ms: number | null;
  /** Devices that opened the app, each once a day; null for the test key, whose devices are not noted. */
  readonly people: number | null;
  readonly spent_usd: number;
}

export interface AppGlance extends Counts {
  readonly id: string;
  readonly name: string;
  readonly live: boolean;
  readonly suspended: boolean;
  /** Live, though no website may show it. */
  readonly blocked: boolean;
  readonly channel: 'live' | 'test';
  /** Turns of the last seven days (UTC), today last. The counts above are today's. */
  readonly week: readonly number[];
  readonly last_at: string | null;
  readonly waits: Waits;
}

export interface AppEvent {
  readonly app_id: string;
  readonly at: string;
  readonly kind: 'live' | 'published' | 'session_opened' | 'session_ended' | 'proposed' | 'decided' | 'smoke_passed' | 'smoke_failed';
  /** The version, the state of the session, the proposal in a sentence. */
  readonly detail: string;
}

/** What the overview shows of an organisation, as of `day`. */
export interface Glance {
  readonly day: string;
  /** The most recently used ones; there are `apps_total`. */
  readonly apps: readonly AppGlance[];
  readonly apps_total: number;
  /** Left of all kinds, and spent this month, with live keys. */
  readonly credit: { readonly left_usd: number; readonly spent_usd: number };
  readonly events: readonly AppEvent[];
}

export interface OverviewEntry {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  /** Null: nobody has used it since it was put in its place, or its file is not there. */
  readonly glance: Glance | null;
}

export interface Overview {
  readonly orgs: readonly OverviewEntry[];
  readonly next: string | null;
}

export interface Build {
  readonly hash: string;
  /** `<platform>/<version>`. */
  readonly sdk: string;
  readonly actions: number;
  readonly screens: number;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
  /** The one whose actions and screens count as the app's. */
  readonly counts: boolean;
}

export interface AppSummary {
  readonly days: number;
  readonly channel: 'live' | 'test';
  readonly total: Counts;
  /** Of today by the hour so far, else by the day (UTC), the newest last; `turns` of an hour are attempts that ended. */
  readonly series: readonly (Counts & { readonly at: string })[];
  readonly last_at: string | null;
  readonly waits: Waits;
  /** Those that called in last, and the one that counts. */
  readonly builds: readonly Build[];
  readonly events: readonly AppEvent[];
}

/** How often something was tried in each hour, the newest last, and how often that failed. */
export interface TriedByHour {
  readonly tried: readonly number[];
  readonly failed: readonly number[];
}

/** What an app leans on, of all its keys: attempts at turns, rounds of the model, calls of its own server, and sources that were read. */
export type AppHealth = Readonly<Record<'turns' | 'model' | 'backend' | 'knowledge', TriedByHour>> & {
  readonly app_id: string;
  readonly name: string;
};

export interface Health {
  /** When the first hour began. */
  readonly from: string;
  readonly hours: number;
  /** The ones that were used last, of an organisation. */
  readonly apps: readonly AppHealth[];
}
