/**
 * Who may use the console: the operator's token as a bearer, or a session cookie made from it (decisions §2). Sessions
 * are stateless, signed with a key made of the token, so that a new token ends them all; failed logins and one-time
 * links are remembered in memory, per process.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { loginBody } from '../../protocol/console/login.ts';
import { Refusal } from '../../protocol/errors.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { openOperatorToken } from '../../storage/operator-token.ts';
import { bearerOf } from '../request-headers.ts';
import { defineRoute, json } from '../route.ts';
import type { Services } from '../services.ts';

/** A working day; after that the operator signs in again. */
const SESSION_VALID_MS = 12 * 60 * 60 * 1000;
const COOKIE = 'console_session';
const CSRF_HEADER = 'x-csrf-token';
/** Failures within a minute that lock an address, and for how long (decisions §2). */
const LOGIN_FAILURES_MAX = 5;
const LOGIN_WINDOW_MS = 60_000;
const LOGIN_LOCK_MS = 60_000;
/** Addresses remembered; a flood from more of them than this pushes the oldest out, and each still has to guess 24 characters. */
const LOGIN_ADDRESSES_MAX = 10_000;
/** A link of the start banner: long enough to find the terminal, too short to lie around in a log. */
const LINK_VALID_MS = 15 * 60 * 1000;
/** Links that can wait to be opened; the oldest goes first. */
const LINKS_MAX = 100;

interface Failures {
  readonly count: number;
  readonly sinceMs: number;
  /** 0: not locked. */
  readonly lockedUntilMs: number;
}

interface ConsoleState {
  readonly token: string;
  /** Signs cookies and CSRF tokens. */
  readonly key: Buffer;
  readonly failures: LRUCache<string, Failures>;
  /** Hash of a link's code → when it expires. */
  readonly links: LRUCache<string, number>;
}

// Two services in one process (as in tests) keep apart what they remember.
const states = new WeakMap<Services, ConsoleState>();

function stateOf(services: Services): ConsoleState {
  let state = states.get(services);
  if (state === undefined) {
    const token = openOperatorToken(services.storage.layout.operatorToken, services.config.operatorToken);
    state = {
      token,
      key: createHmac('sha256', token).update('console session').digest(),
      failures: new LRUCache({ max: LOGIN_ADDRESSES_MAX }),
      links: new LRUCache({ max: LINKS_MAX }),
    };
    states.set(services, state);
  }
  return state;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Hashing first makes the lengths equal, which a comparison in constant time needs. */
function same(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
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

function cookieOf(header: (name: string) => string): string {
  for (const part of header('cookie').split(';')) {
    const [name, value] = part.trim().split('=', 2);
    if (name === COOKIE && value !== undefined) return value;
  }
  return '';
}

/** The session of the request's cookie; undefined when there is none, it was tampered with, or it has run out. */
export function readSession(header: (name: string) => string, services: Services): ConsoleSession | undefined {
  const value = cookieOf(header);
  if (value === '') return undefined;
  const state = stateOf(services);
  const claim = value.slice(0, value.lastIndexOf('.'));
  if (!same(value, `${claim}.${sign(state, 'session', claim)}`)) return undefined;
  const expiresAtMs = Number(claim.slice(0, claim.indexOf('.')));
  if (!(services.nowMs() < expiresAtMs)) return undefined;
  return { value, csrfToken: sign(state, 'csrf', claim), expiresAtMs };
}

/** `Set-Cookie` for the session, or one that takes the cookie away. */
export function sessionCookie(session: ConsoleSession | null, services: Services): string {
  const secure = services.config.publicUrl?.startsWith('https:') === true ? '; Secure' : '';
  const age = session === null ? 0 : Math.floor(SESSION_VALID_MS / 1000);
  return `${COOKIE}=${session?.value ?? ''}; Path=/console; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
}

/**
 * Lets the operator pass. `header` by lowercase name, `method` in upper case.
 * @throws Refusal 401 missing_token (neither bearer nor cookie), 401 invalid_token (either is not right, or the session has
 * run out), 403 invalid_csrf (a write with the cookie but without its token).
 */
export function authenticateOperator(header: (name: string) => string, method: string, services: Services): void {
  const authorization = header('authorization');
  if (authorization !== '') {
    const bearer = bearerOf(authorization);
    if (bearer !== undefined && same(bearer, stateOf(services).token)) return;
    throw new Refusal('invalid_token', 'This is not the operator token. Send it as Authorization: Bearer <OPERATOR_TOKEN>.');
  }
  if (cookieOf(header) === '') {
    throw new Refusal('missing_token', 'Send Authorization: Bearer <OPERATOR_TOKEN>, or sign in with POST /console/api/login.');
  }
  const session = readSession(header, services);
  if (session === undefined) throw new Refusal('invalid_token', 'The console session is over. Sign in again with POST /console/api/login.');
  if (method === 'GET' || method === 'HEAD') return;
  if (!same(header(CSRF_HEADER), session.csrfToken)) {
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
export function logIn(token: string, remoteAddress: string, services: Services): ConsoleSession {
  const state = stateOf(services);
  const nowMs = services.nowMs();
  refuseLocked(state, remoteAddress, nowMs);
  if (!same(token, state.token)) {
    noteFailure(state, remoteAddress, nowMs);
    throw new Refusal('invalid_token', 'token is not the operator token.');
  }
  state.failures.delete(remoteAddress);
  return openSession(services);
}

/** Path and query of a link that signs in once, within 15 minutes; for the start banner. */
export function mintConsoleLink(services: Services): string {
  const code = randomBytes(24).toString('base64url');
  stateOf(services).links.set(sha256(code).toString('hex'), services.nowMs() + LINK_VALID_MS);
  return `/console?once=${code}`;
}

/** Uses a link's code up: the session it opens, or undefined when it is unknown, used or too old. */
export function redeemConsoleLink(code: string, services: Services): ConsoleSession | undefined {
  const { links } = stateOf(services);
  const hash = sha256(code).toString('hex');
  const expiresAtMs = links.get(hash);
  links.delete(hash);
  return expiresAtMs !== undefined && services.nowMs() < expiresAtMs ? openSession(services) : undefined;
}

function sessionToWire(session: ConsoleSession): { csrf_token: string; expires_at: string } {
  return { csrf_token: session.csrfToken, expires_at: timestamp(session.expiresAtMs) };
}

export const loginRoute = defineRoute({
  method: 'POST',
  path: '/console/api/login',
  caller: 'anyone',
  limits: [],
  body: loginBody,
  handle({ body, remoteAddress }, services) {
    const session = logIn(body.token, remoteAddress, services);
    return json(sessionToWire(session), 200, { 'Set-Cookie': sessionCookie(session, services) });
  },
});

export const sessionRoute = defineRoute({
  method: 'GET',
  path: '/console/api/session',
  caller: 'operator',
  limits: [],
  body: null,
  handle({ header }, services) {
    const session = readSession(header, services);
    return json({ session: session === undefined ? null : sessionToWire(session) });
  },
});

export const logoutRoute = defineRoute({
  method: 'POST',
  path: '/console/api/logout',
  caller: 'operator',
  limits: [],
  body: null,
  handle(_, services) {
    return json({ ok: true }, 200, { 'Set-Cookie': sessionCookie(null, services) });
  },
});
