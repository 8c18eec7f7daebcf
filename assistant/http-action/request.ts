/** Makes the request of one call of an HTTP action (CALL-2, CALL-3). Pure; credentials show in the request only. */
import { type ActionDefinition, tokenPlace } from '../../protocol/setup/action-rules.ts';
import { renderBody, renderUrl, sendableParams, Unsendable } from './template.ts';

export interface Credentials {
  readonly invocationId: string;
  readonly userToken: string | undefined;
  /** What a person entered for the host; undefined when nobody did. */
  readonly sharedKey: string | undefined;
  readonly receipt: string | undefined;
}

export interface ActionRequest {
  readonly method: ActionDefinition['method'];
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** `reason` is a sentence for the model; it holds no value and no credential. */
export type RenderedRequest = { readonly ok: true; readonly request: ActionRequest } | { readonly ok: false; readonly reason: string };

export const ACTION_USER_AGENT = 'assistant-service';

/** Visible ASCII with blanks inside. More is allowed on paper; servers disagree on what it means. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** RFC 6265 cookie-octet: a semicolon would begin another cookie. */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;

interface Placed {
  readonly headers: Map<string, string>;
  readonly query: Map<string, string>;
}

function headerValue(value: string, what: string): string {
  if (!HEADER_VALUE.test(value)) throw new Unsendable(`${what} holds characters that a header cannot carry.`);
  return value;
}

function placeToken(definition: ActionDefinition, token: string | undefined, { headers, query }: Placed): void {
  if (definition.auth !== 'user') return;
  const what = "The signed-in person's token";
  if (token === undefined || token === '') {
    throw new Unsendable('The action needs the person to be signed in: the app sent no X-Service-User-Token.');
  }
  const place = tokenPlace(definition);
  if (place.in === 'query') query.set(place.name, token);
  else if (place.in === 'header') headers.set(place.name.toLowerCase(), headerValue(place.bearer ? `Bearer ${token}` : token, what));
  else if (COOKIE_VALUE.test(token)) headers.set('cookie', `${place.name}=${token}`);
  else throw new Unsendable(`${what} holds characters that a cookie cannot carry.`);
}

function placeKey({ needs_key: place }: ActionDefinition, key: string | undefined, { headers, query }: Placed): void {
  if (place === undefined) return;
  const what = 'The shared key of the endpoint';
  if (key === undefined) throw new Unsendable('The action waits for a shared key that a person enters in the console.');
  const name = place.name ?? 'Authorization';
  if (place.kind === 'query') query.set(name, key);
  else headers.set(name.toLowerCase(), headerValue(place.kind === 'bearer' ? `Bearer ${key}` : key, what));
}

/** Parameters (checked against it, placeholders restored) that no template marks are not sent. */
export function renderRequest(
  definition: ActionDefinition,
  params: Readonly<Record<string, unknown>>,
  credentials: Credentials,
): RenderedRequest {
  const { method, url_template, body_template } = definition;
  const values = sendableParams(params);
  const headers = new Map([
    ['accept', 'application/json'],
    ['accept-encoding', 'gzip, deflate, br'],
    ['user-agent', ACTION_USER_AGENT],
  ]);
  const query = new Map<string, string>();
  try {
    placeToken(definition, credentials.userToken, { headers, query });
    placeKey(definition, credentials.sharedKey, { headers, query });
    const url = renderUrl(url_template, values, query);
    const body = body_template === undefined ? undefined : renderBody(body_template, values);
    if (body !== undefined) headers.set('content-type', 'application/json');
    headers.set('idempotency-key', credentials.invocationId);
    if (credentials.receipt !== undefined) headers.set('x-service-confirmation', credentials.receipt);
    return { ok: true, request: { method, url, headers: Object.fromEntries(headers), body } };
  } catch (error) {
    if (error instanceof Unsendable) return { ok: false, reason: error.message };
    throw error;
  }
}
