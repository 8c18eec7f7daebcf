/** Outgoing mail, by SMTP or into a folder when no server is configured. Whether and when one is sent is the caller's to decide. */
import { createHash } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { syncPath } from '../../storage/sqlite/database-copy.ts';

export interface Mail {
  /** The same for every copy of one mail: its Message-ID and file name are derived from it. */
  readonly key: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** `not_taken`: certainly no server has it, so it may be sent again. `unknown`: the connection broke on the way; only the server knows. */
export type MailOutcome = 'sent' | 'refused' | 'not_taken' | 'unknown';

export interface Mailer {
  /** Asked before a mail is claimed. */
  ready(): Promise<boolean>;
  send(mail: Mail): Promise<MailOutcome>;
}

export interface MailOptions {
  /** `smtp://` or `smtps://`, with user and password; undefined: mails become files. */
  readonly smtpUrl: string | undefined;
  readonly from: string;
  /** Folder for `*.eml` files. */
  readonly outbox: string;
  readonly log: Logger;
  /** A server that is silent for longer counts as down; default 10 s. */
  readonly timeoutMs?: number;
}

const SMTP_TIMEOUT_MS = 10_000;
/** Failures before the message itself: to resolve a name, to connect, to log in, to pass a proxy. */
const BEFORE_THE_MESSAGE = new Set(['EDNS', 'EAUTH', 'ENOAUTH', 'EOAUTH2', 'EPROXY', 'EREQUIRETLS', 'ECONFIG', 'ETLS']);

interface MailFault {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly responseCode?: unknown;
}

function outcomeOf(error: unknown): MailOutcome {
  const { code, syscall, responseCode } = error as MailFault;
  // A server that answered with a refusal did not take the mail: 4xx for now, 5xx for good.
  if (typeof responseCode === 'number' && responseCode >= 400) return responseCode >= 500 && code !== 'EAUTH' ? 'refused' : 'not_taken';
  if (syscall === 'connect' || BEFORE_THE_MESSAGE.has(String(code))) return 'not_taken';
  return 'unknown';
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

function envelope(mail: Mail, from: string) {
  const domain = /@([^\s@>]+)>?$/.exec(from)?.[1] ?? 'localhost';
  return {
    from,
    to: mail.to,
    subject: mail.subject,
    text: mail.text,
    messageId: `<${digestOf(mail.key)}@${domain}>`,
    // Automatic replies to automatic mail are not wanted.
    headers: { 'Auto-Submitted': 'auto-generated' },
    // A mail must never make the service read a file or fetch an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Loaded with the first mail or the first check of the server, so that a start does not wait for it. */
const load = () => import('nodemailer');

function outboxMailer({ from, outbox }: MailOptions): Mailer {
  const open = async () => (await load()).createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  let transport: ReturnType<typeof open> | undefined;
  return {
    ready: () => Promise.resolve(true),
    async send(mail) {
      transport ??= open();
      const { message } = await (await transport).sendMail(envelope(mail, from));
      const path = join(outbox, `${digestOf(mail.key)}.eml`);
      try {
        // Readers of the folder see complete mails only.
        await writeFile(`${path}.part`, message as Buffer, { mode: 0o600, flush: true });
        await rename(`${path}.part`, path);
        syncPath(outbox);
        return 'sent';
      } catch {
        return 'not_taken';
      }
    },
  };
}

function smtpMailer(smtpUrl: string, { from, log, timeoutMs = SMTP_TIMEOUT_MS }: MailOptions): Mailer {
  const times = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs, dnsTimeout: timeoutMs };
  const open = async () => (await load()).createTransport({ url: smtpUrl, ...times });
  let transport: ReturnType<typeof open> | undefined;
  const opened = () => {
    transport ??= open();
    return transport;
  };
  /** Codes only: what a server says may hold addresses. */
  const warn = (error: unknown, text: string) => {
    const { code, responseCode } = error as MailFault;
    log.warn({ code, response_code: responseCode }, text);
  };
  return {
    async ready() {
      try {
        return await (await opened()).verify();
      } catch (error) {
        warn(error, 'connecting to the mail server failed: check SMTP_URL; the mail is retried');
        return false;
      }
    },
    async send(mail) {
      try {
        await (await opened()).sendMail(envelope(mail, from));
        return 'sent';
      } catch (error) {
        warn(error, 'the mail server refused a mail, or its answer was lost');
        return outcomeOf(error);
      }
    },
  };
}

export function createMailer(options: MailOptions): Mailer {
  return options.smtpUrl === undefined ? outboxMailer(options) : smtpMailer(options.smtpUrl, options);
}
