/**
 * An app's settings (CONSOLE-9): their defaults, the wire schema that a PATCH is checked with, and the one place
 * where snake_case (wire and SQL) meets camelCase.
 */
import * as v from 'valibot';
import { timezone } from '../catalog/values.ts';
import {
  ADDRESS_MAX_CHARS,
  CONFIRMATION_TTL_DEFAULT_S,
  MESSAGES_PER_DAY_DEFAULT,
  MESSAGES_PER_MINUTE_DEFAULT,
  MESSAGES_PER_MINUTE_PER_ADDRESS_DEFAULT,
} from '../limits.ts';
import { boundedList, boundedMap, flag, whole } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { distinct } from '../setup/accept.ts';

export interface AppIntake {
  readonly links: readonly string[];
  readonly description: string;
  readonly isLive: boolean;
}

export interface AppSettings {
  /** Exact hosts, or `*.host`. */
  readonly allowedDomains: readonly string[];
  /** Hosts, as above, whose pictures answers may show whatever their address; null: `allowedDomains` (BLOCK-24). */
  readonly mediaHosts: readonly string[] | null;
  /** IANA name of the zone that is told where a device names none; null: none (MODEL-32). */
  readonly timeZone: string | null;
  readonly requireIdentity: boolean;
  /** Whether only confirmations that this server recorded count (CONFIRM-9). */
  readonly recordConfirmations: boolean;
  readonly messagesPerMinute: number;
  readonly messagesPerDay: number;
  /** 0: addresses are not counted. */
  readonly messagesPerMinutePerAddress: number;
  /** Null: a quarter of `messagesPerDay`. 0: addresses are not counted. */
  readonly messagesPerDayPerAddress: number | null;
  /** Null: none. */
  readonly dailyModelBudgetUsd: number | null;
  readonly hardCap: boolean;
  readonly suspended: boolean;
  readonly autoGoLive: boolean;
  /** Whether drafts of an app that never published anything become version 1 when it goes live. */
  readonly publishOnGoLive: boolean;
  readonly confirmationTtlS: number;
  /** Platform (`web`, `flutter`) → lowest semantic version that is served. */
  readonly minSdk: Readonly<Record<string, string>>;
  readonly intake: AppIntake;
}

export const DEFAULT_APP_SETTINGS: AppSettings = {
  allowedDomains: [],
  mediaHosts: null,
  timeZone: null,
  requireIdentity: false,
  recordConfirmations: false,
  messagesPerMinute: MESSAGES_PER_MINUTE_DEFAULT,
  messagesPerDay: MESSAGES_PER_DAY_DEFAULT,
  messagesPerMinutePerAddress: MESSAGES_PER_MINUTE_PER_ADDRESS_DEFAULT,
  messagesPerDayPerAddress: null,
  dailyModelBudgetUsd: null,
  hardCap: true,
  suspended: false,
  autoGoLive: true,
  publishOnGoLive: true,
  confirmationTtlS: CONFIRMATION_TTL_DEFAULT_S,
  minSdk: {},
  intake: { links: [], description: '', isLive: false },
};

/** Domains are compared on every browser request; an app has a handful. */
const DOMAINS_MAX = 100;
/** Far above any real per-device rate; keeps a slip of the keyboard from switching the bucket off. */
export const MESSAGES_PER_MINUTE_MAX = 10_000;
export const MESSAGES_PER_DAY_MAX = 10_000_000;
export const DAILY_BUDGET_MAX_USD = 1_000_000;
/** Shorter than this nobody can read the card; longer than a day nobody remembers what it asked. */
export const CONFIRMATION_TTL_MIN_S = 30;
export const CONFIRMATION_TTL_MAX_S = 86_400;
const MIN_SDK_PLATFORMS_MAX = 16;
const INTAKE_LINKS_MAX = 20;
export const INTAKE_DESCRIPTION_MAX_CHARS = 4_000;

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const domain = v.pipe(
  v.string('must be a string'),
  v.toLowerCase(),
  v.maxLength(255, 'must be at most 255 characters'),
  v.regex(
    new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`),
    'must be a host such as app.example.com or *.example.com, without scheme, port or path',
  ),
);

const domains = v.pipe(boundedList(domain, DOMAINS_MAX, `must list at most ${DOMAINS_MAX} domains`), distinct());

/** The setting's spelling as a browser would say it: lower case, international names in ASCII, with its port if it has one; '' for none. */
function spelt(domain: string): string {
  const address = `https://${domain.trim()}`;
  return URL.canParse(address) ? new URL(address).host : '';
}

/** Whether `domain` (`shop.example`, `shop.example:8443` or `*.shop.example`) covers this address. `*.host` does not cover host itself. */
export function coversHost(domain: string, { host, hostname }: Pick<URL, 'host' | 'hostname'>): boolean {
  if (domain.startsWith('*.')) return hostname.endsWith(`.${spelt(domain.slice(2))}`);
  const wanted = spelt(domain);
  return wanted !== '' && (wanted === hostname || wanted === host);
}

const link = v.pipe(
  text(ADDRESS_MAX_CHARS, 1),
  v.check((value) => /^https?:\/\//i.test(value) && URL.canParse(value), 'must be an http or https address'),
);

/** A PATCH of settings, as it travels: every field optional; `min_sdk` replaces the map, `intake` merges by field. */
export const appSettingsEntries = {
  allowed_domains: v.optional(domains),
  media_hosts: v.optional(v.nullable(domains)),
  time_zone: v.optional(v.nullable(timezone)),
  require_identity: v.optional(flag),
  record_confirmations: v.optional(flag),
  messages_per_minute: v.optional(whole(1, MESSAGES_PER_MINUTE_MAX)),
  messages_per_day: v.optional(whole(1, MESSAGES_PER_DAY_MAX)),
  messages_per_minute_per_address: v.optional(whole(0, MESSAGES_PER_MINUTE_MAX)),
  messages_per_day_per_address: v.optional(v.nullable(whole(0, MESSAGES_PER_DAY_MAX))),
  daily_model_budget_usd: v.optional(
    v.nullable(
      v.pipe(
        v.number('must be a number, or null for none'),
        v.gtValue(0, 'must be more than 0, or null for none'),
        v.maxValue(DAILY_BUDGET_MAX_USD, `must be at most ${DAILY_BUDGET_MAX_USD}`),
      ),
    ),
  ),
  hard_cap: v.optional(flag),
  suspended: v.optional(flag),
  auto_go_live: v.optional(flag),
  publish_on_go_live: v.optional(flag),
  confirmation_ttl_s: v.optional(whole(CONFIRMATION_TTL_MIN_S, CONFIRMATION_TTL_MAX_S)),
  min_sdk: v.optional(
    boundedMap(
      v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must name a platform as SDKs report it, e.g. web')),
      v.pipe(v.string('must be a string'), v.regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}$/, 'must be a version such as 0.25.0')),
      MIN_SDK_PLATFORMS_MAX,
      `must name at most ${MIN_SDK_PLATFORMS_MAX} platforms`,
    ),
  ),
  intake: v.optional(
    v.strictObject({
      links: v.optional(v.pipe(boundedList(link, INTAKE_LINKS_MAX, `must list at most ${INTAKE_LINKS_MAX} links`), distinct())),
      description: v.optional(text(INTAKE_DESCRIPTION_MAX_CHARS)),
      is_live: v.optional(flag),
    }),
  ),
};

const appSettingsPatch = v.strictObject(appSettingsEntries);
export type AppSettingsPatch = v.InferOutput<typeof appSettingsPatch>;

type Whole<Part> = { readonly [Name in keyof Part]-?: Exclude<Part[Name], undefined> };

export type ShownSettings = Omit<Whole<AppSettingsPatch>, 'intake'> & { readonly intake: Whole<NonNullable<AppSettingsPatch['intake']>> };

/** What an address may send when a device may send `perMinute`: never less, for it would hold the device too. 0 stays 0. */
function raisedWith(perMinute: number, { messagesPerMinutePerAddress: before }: AppSettings): number {
  return before === 0 ? 0 : Math.max(before, perMinute);
}

export function patchSettings(before: AppSettings, patch: AppSettingsPatch): AppSettings {
  return {
    allowedDomains: patch.allowed_domains ?? before.allowedDomains,
    mediaHosts: patch.media_hosts === undefined ? before.mediaHosts : patch.media_hosts,
    timeZone: patch.time_zone === undefined ? before.timeZone : patch.time_zone,
    requireIdentity: patch.require_identity ?? before.requireIdentity,
    recordConfirmations: patch.record_confirmations ?? before.recordConfirmations,
    messagesPerMinute: patch.messages_per_minute ?? before.messagesPerMinute,
    messagesPerDay: patch.messages_per_day ?? before.messagesPerDay,
    messagesPerMinutePerAddress: patch.messages_per_minute_per_address ?? raisedWith(patch.messages_per_minute ?? 0, before),
    messagesPerDayPerAddress:
      patch.messages_per_day_per_address === undefined ? before.messagesPerDayPerAddress : patch.messages_per_day_per_address,
    dailyModelBudgetUsd: patch.daily_model_budget_usd === undefined ? before.dailyModelBudgetUsd : patch.daily_model_budget_usd,
    hardCap: patch.hard_cap ?? before.hardCap,
    suspended: patch.suspended ?? before.suspended,
    autoGoLive: patch.auto_go_live ?? before.autoGoLive,
    publishOnGoLive: patch.publish_on_go_live ?? before.publishOnGoLive,
    confirmationTtlS: patch.confirmation_ttl_s ?? before.confirmationTtlS,
    minSdk: patch.min_sdk ?? before.minSdk,
    intake: {
      links: patch.intake?.links ?? before.intake.links,
      description: patch.intake?.description ?? before.intake.description,
      isLive: patch.intake?.is_live ?? before.intake.isLive,
    },
  };
}

/** Settings as they travel and as they are kept. */
export function settingsToWire(settings: AppSettings): ShownSettings {
  return {
    allowed_domains: [...settings.allowedDomains],
    media_hosts: settings.mediaHosts === null ? null : [...settings.mediaHosts],
    time_zone: settings.timeZone,
    require_identity: settings.requireIdentity,
    record_confirmations: settings.recordConfirmations,
    messages_per_minute: settings.messagesPerMinute,
    messages_per_day: settings.messagesPerDay,
    messages_per_minute_per_address: settings.messagesPerMinutePerAddress,
    messages_per_day_per_address: settings.messagesPerDayPerAddress,
    daily_model_budget_usd: settings.dailyModelBudgetUsd,
    hard_cap: settings.hardCap,
    suspended: settings.suspended,
    auto_go_live: settings.autoGoLive,
    publish_on_go_live: settings.publishOnGoLive,
    confirmation_ttl_s: settings.confirmationTtlS,
    min_sdk: { ...settings.minSdk },
    intake: { links: [...settings.intake.links], description: settings.intake.description, is_live: settings.intake.isLive },
  };
}

/** Settings from what `settingsToWire` made; a setting that is newer than the row has its default. */
export function settingsFromWire(stored: AppSettingsPatch): AppSettings {
  return patchSettings(DEFAULT_APP_SETTINGS, stored);
}
