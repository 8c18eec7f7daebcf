/** The settings of an app as a person reads them: what each does, its default and its bounds, which are those that the service checks. */

import {
  CONFIRMATION_TTL_MAX_S,
  CONFIRMATION_TTL_MIN_S,
  DAILY_BUDGET_MAX_USD,
  DEFAULT_APP_SETTINGS as DEFAULTS,
  INTAKE_DESCRIPTION_MAX_CHARS,
  MESSAGES_PER_DAY_MAX,
  MESSAGES_PER_MINUTE_MAX,
} from '../../../protocol/console/app-settings.ts';
import { APP_NAME_MAX_CHARS, PLATFORM_HINT_MAX_CHARS, SLUG_MAX_CHARS } from '../../../protocol/console/apps.ts';
import type { App } from '../app/app.ts';
import { type FieldEntry, labelsOf, linesOf } from '../parts/fields.tsx';

export type SettingFields = ReturnType<typeof fieldsOf>;

interface SettingGroup {
  readonly title: string;
  readonly settings: readonly FieldEntry[];
}

const MONEY_STEP = 0.01;

const count = (value: number) => value.toLocaleString('en');
const onOff = (isOn: boolean) => `Default: ${isOn ? 'on' : 'off'}.`;

export const SETTING_GROUPS: readonly SettingGroup[] = [
  {
    title: 'The app',
    settings: [
      { name: 'name', label: 'Name', hint: 'As this console and mails about usage show it.', max: APP_NAME_MAX_CHARS },
      {
        name: 'slug',
        kind: 'mono',
        label: 'Short name',
        hint: 'Lowercase words joined by hyphens; no other app has the same.',
        max: SLUG_MAX_CHARS,
      },
      {
        name: 'platform_hint',
        label: 'Built with',
        hint: 'Told to the coding agent before it looks, such as "web" or "flutter". May be empty.',
        max: PLATFORM_HINT_MAX_CHARS,
      },
    ],
  },
  {
    title: 'Where it runs',
    settings: [
      {
        name: 'allowed_domains',
        kind: 'lines',
        label: 'Allowed domains',
        hint: 'Websites that may use the keys, one a line: shop.example.com, or *.example.com for all below it. Other websites are refused. A mobile app needs no line.',
        placeholder: 'shop.example.com',
      },
      {
        name: 'media_hosts',
        kind: 'lines',
        label: 'Hosts of pictures',
        hint: 'Websites whose pictures answers may show, one a line. Empty: the domains above. The word none: no website. Do not list one that fetches whatever address it is given. A picture from elsewhere is shown only if its whole address stood in knowledge, in a result or in the configuration.',
        placeholder: 'cdn.example.com',
      },
      {
        name: 'min_sdk',
        kind: 'lines',
        label: 'Lowest SDK versions',
        hint: 'Older builds are told to update. One a line: a platform and a version. Empty: every version is served.',
        placeholder: 'web 0.25.0',
      },
      {
        name: 'time_zone',
        label: 'Time zone',
        hint: 'The assistant is told the time there when a device does not say its own zone. Empty: it is told the time in UTC.',
        placeholder: 'Europe/Amsterdam',
      },
    ],
  },
  {
    title: 'People',
    settings: [
      {
        name: 'require_identity',
        kind: 'switch',
        label: 'Only people who are signed in',
        hint: `A turn needs a user id with a valid signature of your backend. ${onOff(DEFAULTS.requireIdentity)}`,
      },
      {
        name: 'record_confirmations',
        kind: 'switch',
        label: 'Only recorded confirmations count',
        hint: `An action runs only when this service recorded that the person agreed. ${onOff(DEFAULTS.recordConfirmations)}`,
      },
      {
        name: 'confirmation_ttl_s',
        kind: 'number',
        label: 'How long a confirmation waits',
        hint: `After that the card is over and nothing happens. Default: ${count(DEFAULTS.confirmationTtlS)} seconds.`,
        min: CONFIRMATION_TTL_MIN_S,
        max: CONFIRMATION_TTL_MAX_S,
        unit: 'seconds',
      },
    ],
  },
  {
    title: 'Limits',
    settings: [
      {
        name: 'messages_per_minute',
        kind: 'number',
        label: 'Messages a minute',
        hint: `Of one device, and of one signed-in person on all devices. Default: ${count(DEFAULTS.messagesPerMinute)}.`,
        min: 1,
        max: MESSAGES_PER_MINUTE_MAX,
      },
      {
        name: 'messages_per_day',
        kind: 'number',
        label: 'Messages a day',
        hint: `Of the whole app. Default: ${count(DEFAULTS.messagesPerDay)}.`,
        min: 1,
        max: MESSAGES_PER_DAY_MAX,
      },
      {
        name: 'messages_per_minute_per_address',
        kind: 'number',
        label: 'Messages a minute from one address',
        hint: `Of everybody behind it who is not signed in. 0: not counted. Default: ${count(DEFAULTS.messagesPerMinutePerAddress)}.`,
        min: 0,
        max: MESSAGES_PER_MINUTE_MAX,
      },
      {
        name: 'messages_per_day_per_address',
        kind: 'number',
        label: 'Messages a day from one address',
        hint: 'Of the same people. 0: not counted. Empty: a quarter of the messages a day, and at least 10.',
        min: 0,
        max: MESSAGES_PER_DAY_MAX,
        placeholder: 'a quarter',
      },
    ],
  },
  {
    title: 'Money',
    settings: [
      {
        name: 'daily_model_budget_usd',
        kind: 'number',
        label: 'Model budget a day',
        hint: 'The assistant stops for the day when it is spent, failed attempts included. Empty: no budget.',
        min: MONEY_STEP,
        max: DAILY_BUDGET_MAX_USD,
        step: MONEY_STEP,
        unit: 'USD',
        placeholder: 'no budget',
      },
      {
        name: 'hard_cap',
        kind: 'switch',
        label: 'Stop when credit is used up',
        hint: `Off: the assistant goes on, and the credit is overdrawn. ${onOff(DEFAULTS.hardCap)}`,
      },
    ],
  },
  {
    title: 'Going live',
    settings: [
      {
        name: 'auto_go_live',
        kind: 'switch',
        label: 'Go live when all checks pass',
        hint: `Off: somebody presses the button. ${onOff(DEFAULTS.autoGoLive)}`,
      },
      {
        name: 'publish_on_go_live',
        kind: 'switch',
        label: 'Publish the drafts when it goes live',
        hint: `If nothing was published before. Off: people get the default appearance and assistant until you publish. ${onOff(DEFAULTS.publishOnGoLive)}`,
      },
    ],
  },
  {
    title: 'What is known before setup',
    settings: [
      {
        name: 'intake_description',
        path: 'intake.description',
        kind: 'long',
        label: 'What the app is for',
        hint: 'The coding agent reads it first.',
        max: INTAKE_DESCRIPTION_MAX_CHARS,
      },
      {
        name: 'intake_links',
        path: 'intake.links',
        kind: 'lines',
        label: 'Links about it',
        hint: 'Up to 20, one a line. They become knowledge when a setup session opens.',
        placeholder: 'https://www.example.com/help',
      },
      {
        name: 'intake_is_live',
        path: 'intake.is_live',
        kind: 'switch',
        label: 'The app has users already',
        hint: 'The agent takes more care then, and changes less.',
      },
    ],
  },
];

export const SETTING_LABELS = labelsOf(SETTING_GROUPS.flatMap(({ settings }) => settings));

/** What says that pictures of no host are shown whatever their address. */
const NO_HOST = 'none';

/** Settings as they travel, lists as lines of text. */
export function fieldsOf({ intake, ...app }: App) {
  return {
    ...app,
    allowed_domains: app.allowed_domains.join('\n'),
    media_hosts: app.media_hosts?.length === 0 ? NO_HOST : (app.media_hosts ?? []).join('\n'),
    min_sdk: Object.entries(app.min_sdk)
      .map(([platform, version]) => `${platform} ${version}`)
      .join('\n'),
    time_zone: app.time_zone ?? '',
    intake_links: intake.links.join('\n'),
    intake_description: intake.description,
    intake_is_live: intake.is_live,
  };
}

const INTAKE = 'intake_';

function mediaHostsOf(lines: readonly string[]): readonly string[] | null {
  if (lines.length === 0) return null;
  return lines.length === 1 && lines[0]?.toLowerCase() === NO_HOST ? [] : lines;
}

export function patchOf(changes: Partial<SettingFields>): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  const intake: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(changes)) {
    if (name === 'min_sdk') {
      const pairs = linesOf(String(value)).map((line): [string, string] => {
        const [platform = '', ...version] = line.split(/[\s:=]+/);
        return [platform, version.join(' ')];
      });
      patch.min_sdk = Object.fromEntries(pairs);
    } else if (name === 'allowed_domains') patch[name] = linesOf(String(value));
    else if (name === 'media_hosts') patch[name] = mediaHostsOf(linesOf(String(value)));
    else if (name === 'time_zone') patch[name] = String(value).trim() || null;
    else if (name === 'intake_links') intake.links = linesOf(String(value));
    else if (name.startsWith(INTAKE)) intake[name.slice(INTAKE.length)] = value;
    else patch[name] = value;
  }
  return Object.keys(intake).length === 0 ? patch : { ...patch, intake };
}
