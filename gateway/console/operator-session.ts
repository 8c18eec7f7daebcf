/**
 * Who may use the console: the operator's token, or a session cookie made from it (CONSOLE-1, CONSOLE-2), signed with a key of the token's
 * digest and the master key: a new token ends them all, and every node checks them. Failed logins are announced to the other nodes.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { loginBody } from '../../protocol/console/sessions.ts';
import { Refusal } from '../../protocol/errors.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { hasConsoleLink, isConsoleSessionEnded } from '../../storage/organisations/installation.ts';
import {
  isOperatorPass,
  isOperatorToken,
  type OperatorToken,
  openOperatorToken,
  operatorKey,
} from '../../storage/secrets/operator-token.ts';
import { isSecret } from '../../storage/secrets/vault.ts';
import { hashSecret } from '../../storage/setup/setup-access.ts';
import { bearerOf } from '../http/request-headers.ts';
import { consoleRoute, defineRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';

/** A working day; after that the operator signs in again. */
const SESSION_VALID_MS = 12 * 60 * 60 * 1000;
const COOKIE = 'console_session';
/** What a cookie's value looks like: expiry, nonce, signature. Others are not worth checking a signature. */
const COOKIE_VALUE = /^\d{1,16}\.[\w-]{1,64}\.[\w-]{1,64}$/;
/** A page of a neighbouring host may set cookies of this name, which come first; a signature is checked for so many, in some microseconds each. */
const COOKIES_TRIED = 32;
const CSRF_HEADER = 'x-csrf-token';
/** Failures within a minute that lock an address, and for how long (CONSOLE-4). */
const LOGIN_FAILURES_MAX = 5;
const LOGIN_WINDOW_MS = 60_000;
const LOGIN_LOCK_MS = 60_000;
/** Addresses remembered. More than this evict the oldest, and each still has to guess 24 characters. */
const LOGIN_ADDRESSES_MAX = 10_000;
/** A link of the start banner: long enough to find the terminal, too short to lie around in a log. */
const LINK_VALID_MS = 15 * 60 * 1000;

interface Failures {
  readonly count: number;
  readonly sinceMs: number;
  /** 0: not locked. */
  readonly lockedUntilMs: number;
}

interface ConsoleState {
  readonly token: OperatorToken;
  /** Signs cookies and CSRF tokens. */
  readonly key: Buffer;
  readonly failures: LRUCache<string, Failures>;
}

// By services, so that two in one process, as in tests, stay apart.
const states = new WeakMap<Services, ConsoleState>();

function stateOf(services: Services): ConsoleState {
  let state = states.get(services);
  if (state === undefined) {
    const token = openOperatorToken(services.storage.layout.operatorToken, services.config.operatorToken);
    state = {
      token,
      key: operatorKey(services.storage.vault, token.digest),
      failures: new LRUCache({ max: LOGIN_ADDRESSES_MAX }),
    };
    states.set(services, state);
  }
  return state;
}

/** Prefix of addresses in the counts shared with other nodes; a count of 0 says that a login from there succeeded. */
const SHARED_LOGIN = 'login ';

/** Before a node listens: failed logins lock an address at all nodes. Returns the operator token where this start minted it. */
export function openConsole(services: Services): string | undefined {
  services.counts.listen((name, count) => {
    if (!name.startsWith(SHARED_LOGIN)) return;
    const state = stateOf(services);
    const address = name.slice(SHARED_LOGIN.length);
    if (count === 0) state.failures.delete(address);
    for (let left = count; left > 0; left--) noteFailure(state, address, services.nowMs());
  });
  return stateOf(services).token.minted;
}

function sign(state: ConsoleState, purpose: string, text: string): string {
  return createHmac('sha256', state.key).update(`${purpose}\n${text}`).digest('base64url');
}

export interface ConsoleSession {
  /** Value of the cookie: expiry, nonce, signature. */
  readonly value: string;
  readonly csrfToken: string;
  readonly expiresAtMs: number;
}

function openSession(services: Services): ConsoleSession {
  const state = stateOf(services);
  const expiresAtMs = services.nowMs() + SESSION_VALID_MS;
  const claim = `${expiresAtMs}.${randomBytes(12).toString('base64url')}`;
  return { value: `${claim}.${sign(state, 'session', claim)}`, csrfToken: sign(state, 'csrf', claim), expiresAtMs };
}

function isSecure({ config }: Services): boolean {
  return config.publicUrl?.startsWith('https:') === true;
}

/** Under https one that no other host and no page below another path can set (RFC 6265bis, section 4.1.3.2). */
function cookieName(services: Services): string {
  return isSecure(services) ? `__Host-${COOKIE}` : COOKIE;
}

function cookiesOf(header: (name: string) => string, services: Services): string[] {
  const start = `${cookieName(services)}=`;
  return header('cookie')
    .split(';')
    .flatMap((part) => (part.trim().startsWith(start) ? [part.trim().slice(start.length)] : []));
}

function sessionOf(value: string, services: Services): ConsoleSession | undefined {
  const state = stateOf(services);
  const claim = value.slice(0, value.lastIndexOf('.'));
  if (!isSecret(value, `${claim}.${sign(state, 'session', claim)}`)) return undefined;
  const expiresAtMs = Number(claim.slice(0, claim.indexOf('.')));
  return { value, csrfToken: sign(state, 'csrf', claim), expiresAtMs };
}

/** The first session of the request's cookies that was signed here, even one that is over; undefined: there is none. */
function signedSession(header: (name: string) => string, services: Services): ConsoleSession | undefined {
  const values = cookiesOf(header, services).filter((value) => COOKIE_VALUE.test(value));
  for (const value of values.slice(0, COOKIES_TRIED)) {
    const session = sessionOf(value, services);
    if (session !== undefined) return session;
  }
  return undefined;
}

/** Whether the request has no bearer and a cookie that was signed here: then it is not a guess, even if its session is over. */
export function isCookieOfOurs(header: (name: string) => string, services: Services): boolean {
  return header('authorization') === '' && signedSession(header, services) !== undefined;
}

function isEnded({ value }: ConsoleSession, { storage }: Services): boolean {
  return isConsoleSessionEnded(storage.control, hashSecret(value));
}

/** The session of the request's cookie; undefined without a valid cookie, or when the session has expired or was ended. */
export function readSession(header: (name: string) => string, services: Services): ConsoleSession | undefined {
  const session = signedSession(header, services);
  return session === undefined || !(services.nowMs() < session.expiresAtMs) || isEnded(session, services) ? undefined : session;
}

function endSession({ value, expiresAtMs }: ConsoleSession, { storage, nowMs }: Services): Promise<void> {
  return storage.writeControl('endConsoleSession', { hash: hashSecret(value), expiresAtMs, nowMs: nowMs() });
}

/** So that an expired session stays so when the clock is set back: await it before the answer. Never rejects. */
export function endExpiredSession(header: (name: string) => string, services: Services): Promise<void> | undefined {
  const session = signedSession(header, services);
  if (session === undefined || services.nowMs() < session.expiresAtMs || isEnded(session, services)) return undefined;
  return endSession(session, services).catch((error) =>
    services.log.warn({ err: error }, 'storing that a session or pairing expired failed: callers are told that it expired'),
  );
}

export function sessionCookie(session: ConsoleSession | null, services: Services): string {
  const where = isSecure(services) ? { path: '/', secure: '; Secure' } : { path: '/console', secure: '' };
  const age = session === null ? 0 : Math.floor(SESSION_VALID_MS / 1000);
  return `${cookieName(services)}=${session?.value ?? ''}; Path=${where.path}; Max-Age=${age}; HttpOnly; SameSite=Strict${where.secure}`;
}

/** `header` by lowercase name. @throws Refusal 401 missing_token, invalid_token; 403 invalid_csrf for a write with the cookie alone. */
export function authenticateOperator(header: (name: string) => string, method: string, services: Services): void {
  const authorization = header('authorization');
  if (authorization !== '') {
    const bearer = bearerOf(authorization);
    const { token, key } = stateOf(services);
    if (bearer !== undefined && (isOperatorToken(bearer, token.digest) || isOperatorPass(bearer, key, services.nowMs()))) return;
    throw new Refusal('invalid_token', 'This is not the operator token. Send it as Authorization: Bearer <OPERATOR_TOKEN>.');
  }
  if (cookiesOf(header, services).every((value) => value === '')) {
    throw new Refusal('missing_token', 'Send Authorization: Bearer <OPERATOR_TOKEN>, or sign in with POST /console/api/login.');
  }
  const session = readSession(header, services);
  if (session === undefined) throw new Refusal('invalid_token', 'The console session is over. Sign in again with POST /console/api/login.');
  if (method === 'GET' || method === 'HEAD') return;
  if (!isSecret(header(CSRF_HEADER), session.csrfToken)) {
    throw new Refusal(
      'invalid_csrf',
      'A write with the console cookie needs the X-CSRF-Token header that GET /console/api/session answers.',
    );
  }
}

/** @throws Refusal 429 rate_limited with Retry-After while the address is locked. */
function refuseLocked(state: ConsoleState, address: string, nowMs: number): void {
  const lockedUntilMs = state.failures.get(address)?.lockedUntilMs ?? 0;
  if (nowMs >= lockedUntilMs) return;
  const retryAfterS = Math.ceil((lockedUntilMs - nowMs) / 1000);
  throw new Refusal('rate_limited', `Too many failed logins from this address. Try again in ${retryAfterS} seconds.`, { retryAfterS });
}

function noteFailure(state: ConsoleState, address: string, nowMs: number): void {
  const before = state.failures.get(address);
  const fresh = before === undefined || before.lockedUntilMs > 0 || nowMs - before.sinceMs >= LOGIN_WINDOW_MS;
  const count = fresh ? 1 : before.count + 1;
  state.failures.set(address, {
    count,
    sinceMs: fresh ? nowMs : before.sinceMs,
    lockedUntilMs: count >= LOGIN_FAILURES_MAX ? nowMs + LOGIN_LOCK_MS : 0,
  });
}

/** The session for this token. @throws Refusal 401 invalid_token; 429 rate_limited after five failures within a minute. */
export function logIn(token: string, address: string, services: Services): ConsoleSession {
  const state = stateOf(services);
  const nowMs = services.nowMs();
  refuseLocked(state, address, nowMs);
  if (!isOperatorToken(token, state.token.digest)) {
    noteFailure(state, address, nowMs);
    services.counts.tell(SHARED_LOGIN + address, 1);
    throw new Refusal('invalid_token', 'token is not the operator token.');
  }
  if (state.failures.delete(address)) services.counts.tell(SHARED_LOGIN + address, 0);
  return openSession(services);
}

/** Path and query of a link that signs in once, within 15 minutes, at any node of the cell; for the start banner. */
export async function issueConsoleLink(services: Services): Promise<string> {
  const { storage, nowMs } = services;
  const code = randomBytes(24).toString('base64url');
  await storage.writeControl('keepConsoleLink', { codeHash: hashSecret(code), expiresAtMs: nowMs() + LINK_VALID_MS });
  return `/console?once=${code}`;
}

/** Uses a link's code up: the session it opens, or undefined when it is unknown, used or too old. */
export async function followConsoleLink(code: string, services: Services): Promise<ConsoleSession | undefined> {
  const { storage, nowMs } = services;
  const codeHash = hashSecret(code);
  if (!hasConsoleLink(storage.control, codeHash)) return undefined;
  return (await storage.writeControl('useConsoleLink', { codeHash, nowMs: nowMs() })) ? openSession(services) : undefined;
}

function sessionToWire(session: ConsoleSession): { csrf_token: string; expires_at: string } {
  return { csrf_token: session.csrfToken, expires_at: timestamp(session.expiresAtMs) };
}

export const loginRoute = defineRoute({
  method: 'POST',
  path: '/console/api/login',
  caller: 'anyone',
  body: loginBody,
  handle({ body, address }, services) {
    const session = logIn(body.token, address, services);
    return json(sessionToWire(session), 200, { 'Set-Cookie': sessionCookie(session, services) });
  },
});

export const sessionRoute = consoleRoute('GET', '/session', undefined, async ({ header }, services) => {
  const session = readSession(header, services);
  if (session === undefined) await endExpiredSession(header, services);
  return json({ session: session === undefined ? null : sessionToWire(session) });
});

const logoutRoute = consoleRoute('POST', '/logout', undefined, async ({ header }, services) => {
  const session = readSession(header, services);
  if (session !== undefined) await endSession(session, services);
  return json({ ok: true }, 200, { 'Set-Cookie': sessionCookie(null, services) });
});

export const signInRoutes: readonly Route[] = [loginRoute, sessionRoute, logoutRoute];
